import { unavailable } from '@taskmesh/contracts';
import { createDocuments } from '@taskmesh/federation';
import { createLog } from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { readGatewayConfig } from '../config.ts';
import { DOCUMENT_RULES } from './document-rules.ts';
import { createCallerBulkheads, createExecutor } from './executor.ts';
import { createLargeResponses } from './large-responses.ts';
import { type GraphSources, LARGE_COST, type RequestCall } from './operation.ts';
import { buildSupergraph } from './supergraph.ts';
import { createBlockingWork, type BlockingWork } from './blocking-work.ts';

const supergraph = buildSupergraph(readFileSync(new URL('../../supergraph.graphql', import.meta.url), 'utf8'));
const call: RequestCall = {
  identity: { role: 'anonymous' },
  requestId: 'request',
  traceparent: undefined,
  ip: '192.0.2.1',
  onEndedSessions: () => undefined,
};

function createRun(blockingWork: BlockingWork, changes: Partial<typeof supergraph> = {}) {
  const executor = createExecutor({
    ...{ blockingWork, largeResponses: createLargeResponses(), runForCaller: createCallerBulkheads() },
    endedSessions: { has: () => false },
    requireRoom: () => undefined,
    supergraph: { ...supergraph, ...changes },
    services: {} as GraphSources, // none responds
    metrics: { operation: () => undefined },
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    kind: 'compiled',
  });
  const { admit } = createDocuments({
    schema: supergraph.schema,
    limits: readGatewayConfig({ NODE_ENV: 'test' }).graphql,
    ...DOCUMENT_RULES,
  });
  return (source = '{ taskStatistics { total } }', variables = {}, cost = 1) =>
    executor.run({ operation: admit(source), variables, cost }, call);
}

it('ends an operation that cannot be planned with an error, and nothing else', async () => {
  const planner = {
    buildQueryPlan: () => {
      const until = performance.now() + 10; // so that a pause for others follows
      while (performance.now() < until);
      throw new Error('no plan');
    },
  } as unknown as typeof supergraph.planner;
  expect(await createRun(createBlockingWork(), { planner })()).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  });
});

it('reports an operation whose turn did not come', async () => {
  const blockingWork = { run: async () => Promise.reject(unavailable()) };
  expect(await createRun(blockingWork)()).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
  });
});

describe('the queue of a network', () => {
  const count = () => {
    const networks: string[] = [];
    const run = createRun({ run: async (network, work) => (networks.push(network), work()) });
    return { turns: networks, run };
  };

  it('plans each combination of conditions that has no plan yet', async () => {
    const { turns: blockingWork, run } = count();
    const source = 'query ($with: Boolean!) { me { id name @include(if: $with) } }';
    await run(source, { with: true });
    const before = blockingWork.length;
    await run(source, { with: true });
    expect(blockingWork.length).toBe(before);
    await run(source, { with: false });
    expect(blockingWork.slice(before)).toEqual([call.ip]);
  });

  it('queues each introspection, because its cost does not reflect the size of the schema', async () => {
    const { turns: blockingWork, run } = count();
    for (let time = 1; time <= 3; time++) {
      await run('{ __schema { types { name } } }');
      expect(blockingWork).toHaveLength(time);
    }
  });

  it('includes what follows a costly result, because its caller serializes it in one step', async () => {
    const run = createRun(createBlockingWork());
    await run('{ me { id } }'); // planned
    const pauses: number[] = [];
    let endedMs = 0;
    const runAndSerialize = async () => {
      await run('{ me { id } }', {}, LARGE_COST + 1);
      const begunMs = performance.now();
      pauses.push(begunMs - endedMs);
      while (performance.now() < begunMs + 20);
      endedMs = performance.now();
    };
    await Promise.all([runAndSerialize(), runAndSerialize(), runAndSerialize()]);
    expect(Math.min(...pauses.slice(1))).toBeGreaterThan(15);
  });
});

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
