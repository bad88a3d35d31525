import type { RequestCall } from './executor.ts';
import { createCallerBulkheads } from './caller-bulkheads.ts';

const ANN = { identity: { role: 'user', userId: 'ann', sessionId: 'a' }, ip: '203.0.113.1' } as const;
const STRANGER = { identity: { role: 'anonymous' }, ip: '203.0.113.1' } as const;
const OPERATOR = { identity: { role: 'operator' }, ip: '203.0.113.1' } as const;

type Caller = Pick<RequestCall, 'identity' | 'ip'>;

it.each<[string, Caller, number, number]>([
  ['an account', ANN, 16, 200],
  ['callers without an account at one address', STRANGER, 256, 200],
  ['operators', OPERATOR, 1_000, 0],
])('runs and delays a bounded number of operations: %s', async (_who, caller, running, waiting) => {
  const runForCaller = createCallerBulkheads();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let started = 0;
  const run = async () => {
    started++;
    await held;
  };
  const all = Array.from({ length: running + waiting }, () => runForCaller(caller, run));
  expect(started).toBe(running);
  if (waiting > 0)
    await expect(runForCaller(caller, run)).rejects.toMatchObject({
      extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 1 },
    });
  release();
  await Promise.all(all);
  expect(started).toBe(running + waiting);
});
