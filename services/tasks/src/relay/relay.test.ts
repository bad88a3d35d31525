import type { Session, Statement } from '@taskmesh/store';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createRelayRepository } from './relay.repository.ts';
import { createRelay } from './relay.ts';

const TIME = '2026-11-24 10:00:00+00';

function change(n: number) {
  const task = { title: 'x', due_date: null, created_at: TIME, updated_at: TIME };
  return {
    ...{ id: String(n), part: 0, epoch: 1, owner_id: `owner ${n}`, sequence: '1', kind: 'INSERT' },
    ...{ task: JSON.stringify(task), previous: null, occurred_at: TIME, traceparent: null },
  };
}

it('begins with few changes, and reads fewer again after a round that took too long to publish', async () => {
  const limits: number[] = [];
  let nowMs = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const session: Session = {
    lost: new AbortController().signal,
    run: async <Row>({ name }: Statement, values: unknown[] = []) => {
      if (name === 'lock-session-claim') return [{ lock: 0 }] as Row[];
      if (name !== 'relay-read') return [];
      const limit = Number(values[2]);
      if (limits.push(limit) === 14) resolve();
      return Array.from({ length: limit }, (_, n) => change(n + 6)) as Row[];
    },
    listen: async () => undefined,
    close: async () => undefined,
  };
  const relay = createRelay({
    repository: createRelayRepository({ openSession: async () => session, run: async () => [] }),
    eventLog: createMemoryEventLog(),
    cursors: {
      async seal() {
        nowMs += 10; // the session's fence is at 3 s
        return 'cursor';
      },
    },
    metrics: { published: () => undefined, failed: () => undefined, deadLettered: () => undefined },
    backoff: { firstMs: 1, maxMs: 1 },
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    monotonicMs: () => nowMs,
    sleep: () => new Promise((done) => setImmediate(done)),
  });
  await relay.start();
  await promise;
  await relay.stop();
  expect(limits.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  expect(limits.slice(9, 14)).toEqual([500, 125, 250, 500, 125]);
});
