import { UndeliverableError, type Mail } from '@taskmesh/mail';
import { createLog, systemClock } from '@taskmesh/service';
import { createMailWorker, type QueuedMail } from './mail-worker.ts';

const LETTER = { createdAt: new Date(), attempts: 1, requestId: 'r' };

it('keeps sending other mails while some servers are slow, at most eight at once', async () => {
  const due = Array.from({ length: 20 }, (_, index) => `${index}@example.com`);
  const slow = new Set(due.slice(0, 7));
  const release = Promise.withResolvers<void>();
  const sent: string[] = [];
  let sending = 0;
  let maxSending = 0;
  const worker = createMailWorker<QueuedMail>({
    outbox: {
      what: 'test mail',
      claim: async () => due.shift(),
      find: async (id) => ({ ...LETTER, id }),
      compose: async ({ id }) => ({ to: id, subject: 's', text: 't' }),
      finish: async () => undefined,
      postpone: async () => undefined,
      remove: async () => undefined,
    },
    mailer: {
      async send({ to }: Mail) {
        maxSending = Math.max(maxSending, ++sending);
        await (slow.has(to) ? release.promise : new Promise(setImmediate));
        sending--;
        sent.push(to);
      },
      close: async () => undefined,
    },
    clock: systemClock,
    log: createLog({ service: 'test', level: 'silent' }),
  });
  await worker.start();
  while (sent.length < 13) await new Promise(setImmediate);
  expect(sent.some((to) => slow.has(to))).toBe(false);
  release.resolve();
  await worker.drain();
  expect(sent).toHaveLength(20);
  expect(maxSending).toBe(8);
  await worker.stop();
});

it('drops a permanently rejected mail at once and one that cannot be composed after a day, and sends the others', async () => {
  const waiting = new Map(
    ['broken', 'refused', 'fine'].map((id) => [id, { ...LETTER, id, createdAt: new Date(0), dueAtMs: 0 }]),
  );
  let nowMs = 0;
  const sent: string[] = [];
  const outcomes: string[] = [];
  const worker = createMailWorker<QueuedMail>({
    outbox: {
      what: 'test mail',
      async claim(now, until) {
        const due = [...waiting.values()].find(({ dueAtMs }) => dueAtMs <= now.getTime());
        if (!due) return undefined;
        due.attempts++;
        due.dueAtMs = until.getTime();
        return due.id;
      },
      find: async (id) => waiting.get(id) ?? null,
      async compose({ id }) {
        if (id === 'broken') throw new Error('no such template');
        return { to: id, subject: 's', text: 't' };
      },
      finish: async ({ id }) => waiting.delete(id),
      postpone: async (id, nextAttemptAt) => Object.assign(waiting.get(id) ?? {}, { dueAtMs: nextAttemptAt.getTime() }),
      remove: async (id) => waiting.delete(id),
    },
    mailer: {
      async send({ to }: Mail) {
        if (to === 'refused') throw new UndeliverableError('no such mailbox');
        sent.push(to);
      },
      close: async () => undefined,
    },
    clock: { ...systemClock, now: () => nowMs },
    log: createLog({ service: 'test', level: 'silent' }),
    onAttempt: (outcome) => void outcomes.push(outcome),
  });
  await worker.start();
  await worker.drain();
  expect([...waiting.keys()]).toEqual(['broken']);
  for (const hours of [1, 2, 25]) {
    nowMs = hours * 3_600_000;
    await worker.drain();
  }
  await worker.stop();
  expect(sent).toEqual(['fine']);
  expect(outcomes.toSorted()).toEqual(['failed', 'failed', 'failed', 'given-up', 'given-up', 'sent']);
  expect(waiting.size).toBe(0);
});
