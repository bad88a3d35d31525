import type { RequestCall } from './operation.ts';
import { createCallerBulkheads } from './executor.ts';

const ANN = { identity: { role: 'user', userId: 'ann', sessionId: 'a' }, ip: '203.0.113.1' } as const;
const STRANGER = { identity: { role: 'anonymous' }, ip: '203.0.113.1' } as const;
const OPERATOR = { identity: { role: 'operator' }, ip: '203.0.113.1' } as const;

/** Work that continues until it is released. */
function heldWork() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  let started = 0;
  const run = async () => {
    started++;
    await promise;
  };
  return { run, started: () => started, release };
}

type Caller = Pick<RequestCall, 'identity' | 'ip' | 'signal'>;

it.each<[string, Caller, number, number]>([
  ['a session', ANN, 6, 1_000],
  ['callers without an account at one address', STRANGER, 256, 1_000],
  ['operators', OPERATOR, 1_000, 0],
])('limits the number of running and waiting operations: %s', async (_who, caller, running, waiting) => {
  const runForCaller = createCallerBulkheads();
  const { run, started, release } = heldWork();
  const all = Array.from({ length: running + waiting }, () => runForCaller(caller, 1, run));
  expect(started()).toBe(running);
  if (waiting > 0)
    await expect(runForCaller(caller, 1, run)).rejects.toMatchObject({
      extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 1 },
    });
  release();
  await Promise.all(all);
  expect(started()).toBe(running + waiting);
});

it('limits the operations of all networks of an IPv6 site', async () => {
  const runForCaller = createCallerBulkheads();
  const { run, started, release } = heldWork();
  const all = Array.from({ length: 2_024 }, (_, at) =>
    runForCaller({ ...STRANGER, ip: `2001:db8:1:${(at % 50).toString(16)}::1` }, 1, run),
  );
  expect(started()).toBe(1_024);
  await expect(runForCaller({ ...STRANGER, ip: '2001:db8:1:ffff::1' }, 1, run)).rejects.toMatchObject({
    extensions: { code: 'RATE_LIMITED' },
  });
  release();
  await Promise.all(all);
});

it("leaves room for the other sessions of an account, up to the account's limit", async () => {
  const runForCaller = createCallerBulkheads();
  const { run, started, release } = heldWork();
  const session = (sessionId: string) => ({ ...ANN, identity: { ...ANN.identity, sessionId } });
  const all = ['a', 'b', 'c', 'd'].flatMap((id) => Array.from({ length: 20 }, () => runForCaller(session(id), 1, run)));
  expect(started()).toBe(20);
  release();
  await Promise.all(all);
  expect(started()).toBe(80);
});

it.each([
  ['default pages', 199, [6, 20]],
  ['pages of 100', 201, [3, 10]],
  ['as large as they may be', 100_000, [2, 6]],
])('runs fewer operations of a caller at once the more they cost: %s', async (_which, cost, [ofSession, ofAccount]) => {
  for (const [sessions, most] of [
    [1, ofSession],
    [10, ofAccount],
  ] as const) {
    const runForCaller = createCallerBulkheads();
    const { run, started, release } = heldWork();
    const session = (at: number) => ({ ...ANN, identity: { ...ANN.identity, sessionId: `s${at % sessions}` } });
    const all = Array.from({ length: 40 }, (_, at) => runForCaller(session(at), cost, run));
    expect(started()).toBe(most);
    release();
    await Promise.all(all);
    expect(started()).toBe(40);
  }
});

it('runs fewer operations of strangers at one address the more they cost: a login may read pages', async () => {
  const runForCaller = createCallerBulkheads();
  const { run, started, release } = heldWork();
  const all = Array.from({ length: 300 }, () => runForCaller(STRANGER, 201, run));
  expect(started()).toBe(128);
  release();
  await Promise.all(all);
});

it('runs the largest page together with others of its session, which may wait for a service that does not respond', async () => {
  const runForCaller = createCallerBulkheads();
  const { run, started, release } = heldWork();
  const all = [1, 1, 1, 100_000].map((cost) => runForCaller(ANN, cost, run));
  expect(started()).toBe(4);
  release();
  await Promise.all(all);
});

it('gives the place of a caller that disconnects to the next one', async () => {
  const runForCaller = createCallerBulkheads();
  const { run, started, release } = heldWork();
  const connection = new AbortController();
  const left = { ...ANN, signal: connection.signal };
  const running = Array.from({ length: 16 }, () => runForCaller(ANN, 1, run));
  const waiting = Array.from({ length: 1_000 }, () => runForCaller(left, 1, run));
  const given = Promise.allSettled(waiting);
  connection.abort();
  expect(new Set((await given).map(({ status }) => status))).toEqual(new Set(['rejected']));
  const next = runForCaller(ANN, 1, run);
  release();
  await Promise.all([...running, next]);
  expect(started()).toBe(17);
});
