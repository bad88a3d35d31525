import { UndeliverableError } from '@taskmesh/mail';
import { createLog, systemClock } from '@taskmesh/service';
import { createMailWorker, type QueuedMail } from './mail-worker.ts';

/** A worker with these mails in its outbox. */
function createWorld(ids: string[], send: (to: string) => Promise<void>) {
  const mails = ids.map((id) => ({ id, createdAt: new Date(0), attempts: 0, requestId: 'r', dueAtMs: 0 }));
  const waiting = new Map(mails.map((mail) => [mail.id, mail]));
  const clock = { ...systemClock, ms: 0, now: () => clock.ms };
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
    mailer: { send: ({ to }) => send(to), close: async () => undefined },
    clock,
    log: createLog({ service: 'test', level: 'silent' }),
    onAttempt: (outcome) => void outcomes.push(outcome),
  });
  return { worker, waiting, clock, outcomes };
}

it('keeps sending other mails while some servers are slow, at most eight at once', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `${index}@example.com`);
  const slow = new Set(ids.slice(0, 7));
  const release = Promise.withResolvers<void>();
  const sent: string[] = [];
  let [sending, maxSending] = [0, 0];
  const { worker } = createWorld(ids, async (to) => {
    maxSending = Math.max(maxSending, ++sending);
    await (slow.has(to) ? release.promise : new Promise(setImmediate));
    sending--;
    sent.push(to);
  });
  await worker.start();
  while (sent.length < 13) await new Promise(setImmediate);
  expect(sent.some((to) => slow.has(to))).toBe(false);
  release.resolve();
  await worker.drain();
  expect([sent.length, maxSending]).toEqual([20, 8]);
  await worker.stop();
});

it('drops a permanently rejected mail at once and one that cannot be composed after a day, and sends the others', async () => {
  const sent: string[] = [];
  const { worker, waiting, clock, outcomes } = createWorld(['broken', 'refused', 'fine'], async (to) => {
    if (to === 'refused') throw new UndeliverableError('no such mailbox');
    sent.push(to);
  });
  await worker.start();
  await worker.drain();
  expect([...waiting.keys()]).toEqual(['broken']);
  for (const hours of [1, 2, 25]) {
    clock.ms = hours * 3_600_000;
    await worker.drain();
  }
  await worker.stop();
  expect([sent, waiting.size]).toEqual([['fine'], 0]);
  expect(outcomes.toSorted()).toEqual(['failed', 'failed', 'failed', 'given-up', 'given-up', 'sent']);
});
