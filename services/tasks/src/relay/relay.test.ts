import type { Session, Statement } from '@taskmesh/store';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createRelayRepository } from './relay.repository.ts';
import { createRelay, type RelayDeps } from './relay.ts';

const TIME = '2026-11-24 10:00:00+00';

function change(n: number) {
  const task = { title: 'x', due_date: null, created_at: TIME, updated_at: TIME };
  return {
    ...{ id: String(n), part: 0, epoch: 1, owner_id: `owner ${n}`, sequence: '1', kind: 'INSERT' },
    ...{ task: JSON.stringify(task), previous: null, occurred_at: TIME, traceparent: null },
  };
}

interface World {
  /** What reading returns, by the limit of rows. */
  read: (limit: number) => object[];
  monotonicMs?: () => number;
  sleep: NonNullable<RelayDeps['sleep']>;
}

function createWorld({ read, monotonicMs = () => 0, sleep }: World) {
  const session: Session = {
    lost: new AbortController().signal,
    run: async <Row>({ name }: Statement, values: unknown[] = []) => {
      const answers: Record<string, () => object[]> = {
        'lock-session-claim': () => [{ lock: 0 }],
        'relay-read': () => read(Number(values[2])),
      };
      return (answers[name]?.() ?? []) as Row[];
    },
    listen: async () => undefined,
    close: async () => undefined,
  };
  return createRelay({
    repository: createRelayRepository({ openSession: async () => session, run: async () => [] }),
    eventLog: createMemoryEventLog(),
    cursors: { seal: async () => 'cursor' },
    metrics: { published: () => undefined, failed: () => undefined, deadLettered: () => undefined },
    backoff: { firstMs: 1, longestMs: 1 },
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    monotonicMs,
    sleep,
  });
}

it('reads fewer changes after a round that took too long to be published, then more again', async () => {
  const limits: number[] = [];
  const enough = Promise.withResolvers<void>();
  let nowMs = 0;
  const relay = createWorld({
    monotonicMs: () => nowMs,
    read(limit) {
      if (limits.push(limit) === 8) enough.resolve();
      nowMs += limit * 10; // the session's fence is at 3 s
      return Array.from({ length: limit }, (_, n) => change(n));
    },
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
  });
  await relay.start();
  await enough.promise;
  await relay.stop();
  expect(limits.slice(0, 8)).toEqual([500, 125, 250, 500, 125, 250, 500, 125]);
});
