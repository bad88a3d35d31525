import type { Session, Statement } from '@taskmesh/database';
import { createMemoryEventLog } from '@taskmesh/messaging';
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

/** How long the relay waits after a round that took no time and published so many changes. */
async function pauseAfter(changes: number): Promise<number> {
  const session: Session = {
    lost: new AbortController().signal,
    run: async <Row>({ name }: Statement) => {
      const answers: Record<string, object[]> = {
        'lock-session-claim': [{ lock: 0 }],
        'relay-epoch': [{ epoch: 1 }],
        'relay-read': Array.from({ length: changes }, (_, n) => change(n)),
      };
      return (answers[name] ?? []) as Row[];
    },
    listen: async () => undefined,
    close: async () => undefined,
  };
  const paused = Promise.withResolvers<number>();
  const relay = createRelay({
    repository: createRelayRepository({ openSession: async () => session, run: async () => [] }),
    eventLog: createMemoryEventLog(),
    cursors: { seal: async () => 'cursor' },
    metrics: { published: () => undefined, failed: () => undefined, deadLettered: () => undefined },
    backoff: { firstMs: 1, longestMs: 1 },
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    monotonicMs: () => 0,
    async sleep(ms, _value, { signal }) {
      paused.resolve(ms);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  } satisfies RelayDeps);
  await relay.start();
  const ms = await paused.promise;
  await relay.stop();
  return ms;
}

it.each([
  [1, 4],
  [8, 4],
  [9, 5],
  [20, 10],
  [499, 10],
])('after a round of %d changes gathers more for %d ms', async (changes, ms) => {
  expect(await pauseAfter(changes)).toBe(ms);
});
