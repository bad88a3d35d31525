import type { Mail } from '@taskmesh/mail';
import { createLog, systemClock } from '@taskmesh/service';
import { createMailWorker, type Letter } from './mail-worker.ts';

const LETTER = { createdAt: new Date(), attempts: 1, requestId: 'r' };

it('sends other mails while the server of one is slow, at most eight at once', async () => {
  const due = Array.from({ length: 20 }, (_, index) => `${index}@example.com`);
  const slow = new Set(due.slice(0, 7));
  const release = Promise.withResolvers<void>();
  const sent: string[] = [];
  let sending = 0;
  let most = 0;
  const worker = createMailWorker<Letter>({
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
        most = Math.max(most, ++sending);
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
  expect(most).toBe(8);
  await worker.stop();
});
