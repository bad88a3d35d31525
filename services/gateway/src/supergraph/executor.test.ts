import { unavailable } from '@taskmesh/contracts';
import { CALL, createTestExecutor, documentsOfClients, supergraph } from '../../tests/fakes/executor.ts';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import type { RequestOptions } from '../connections/connections.ts';
import { createServiceMap, type DataSourceDeps } from './data-source.ts';
import { createCallerBulkheads } from './executor.ts';
import { LARGE_COST, type RequestCall } from './operation.ts';
import { createBlockingWork, type BlockingWork } from './blocking-work.ts';

function createRun(blockingWork: BlockingWork, changes: Partial<typeof supergraph> = {}) {
  const graph = { ...supergraph, ...changes };
  const executor = createTestExecutor({ blockingWork, supergraph: graph, clock: { now: () => 0 } });
  const { admit } = documentsOfClients();
  return (source = '{ taskStatistics { total } }', variables = {}, cost = 1) =>
    executor.run({ operation: admit(source), variables, cost }, CALL);
}

it('ends an operation that cannot be planned with an error, and nothing else', async () => {
  const planner = {
    buildQueryPlan: () => {
      const until = performance.now() + 10; // so that a pause for others follows
      while (performance.now() < until);
      throw new Error('no plan');
    },
  } as unknown as typeof supergraph.planner;
  const errors = [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }];
  expect(await createRun(createBlockingWork(), { planner })()).toMatchObject({ data: null, errors });
});

it('reports an operation whose turn did not come', async () => {
  const blockingWork = { run: async () => Promise.reject(unavailable()) };
  const errors = [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }];
  expect(await createRun(blockingWork)()).toMatchObject({ data: null, errors });
});

describe('changes that read much', () => {
  const source = 'mutation { a: updateTask(id: "1", input: {}) { id } b: updateTask(id: "2", input: {}) { id } }';
  /** Each change has a response of this size. */
  async function change(cost: number, responseBytes: number, requireRoom = () => undefined as void) {
    let sent = 0;
    const request = async (...[, , { query }, { onLarge }]: [string, unknown, SubgraphRequest, RequestOptions]) => {
      onLarge?.(responseBytes);
      const key = /(\w+): ?updateTask/.exec(query)?.[1] ?? 'updateTask';
      return { data: { [key]: { id: String(++sent) } } };
    };
    const deps = { connections: { request }, metrics: { requests: () => () => undefined }, clock: { now: () => 0 } };
    const services = createServiceMap(supergraph, deps as unknown as DataSourceDeps); // all that is used
    const executor = createTestExecutor({ services, requireRoom, clock: deps.clock });
    const operation = documentsOfClients().admit(source);
    const { data, errors = [] } = await executor.run({ operation, variables: {}, cost }, CALL);
    return { sent, data, errors: errors.map(({ path, extensions }) => [path, extensions?.['code']]) };
  }
  const MADE = { sent: 2, data: { a: { id: '1' }, b: { id: '2' } }, errors: [] };
  const refusedAt = (field: string) => [[[field], 'SERVICE_UNAVAILABLE']];

  it('are not sent while there is no room for their responses; those that were sent are answered', async () => {
    expect(await change(21, 24 * 1024 * 1024)).toEqual(MADE);
    expect(await change(21, 25 * 1024 * 1024)).toEqual({ sent: 1, data: null, errors: refusedAt('b') }); // b is not null
  });

  it('are not sent while memory is short, unless they are small', async () => {
    const refuse = () => {
      throw unavailable();
    };
    expect(await change(21, 0, refuse)).toEqual({ sent: 0, data: null, errors: refusedAt('a') });
    expect(await change(20, 25 * 1024 * 1024, refuse)).toEqual(MADE);
  });
});

describe('the queue of a network', () => {
  const counting = () => {
    const turns: string[] = [];
    return { turns, run: createRun({ run: async (network, work) => (turns.push(network), work()) }) };
  };

  it('plans each combination of conditions that has no plan yet', async () => {
    const { turns, run } = counting();
    const source = 'query ($with: Boolean!) { me { id name @include(if: $with) } }';
    const turnsFor = async (variables: object) => (turns.splice(0), await run(source, variables), turns.length);
    expect(await turnsFor({ with: true })).toBeGreaterThan(0);
    expect([await turnsFor({ with: true }), await turnsFor({ with: false })]).toEqual([0, 1]);
  });

  it('queues each introspection, because its cost does not reflect the size of the schema', async () => {
    const { turns, run } = counting();
    for (const _time of [1, 2, 3]) await run('{ __schema { types { name } } }');
    expect(turns).toEqual([CALL.ip, CALL.ip, CALL.ip]);
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
const ofSite = (at: number) => ({ ...STRANGER, ip: `2001:db8:1:${(at % 50).toString(16)}::1` });
const ofAnn = (sessions: number) => (at: number) => ({
  ...ANN,
  identity: { ...ANN.identity, sessionId: `s${at % sessions}` },
});

type Caller = Pick<RequestCall, 'identity' | 'ip' | 'signal'>;

/** Runs work of this cost that continues until it is released. */
function heldWork(cost = 1) {
  const runForCaller = createCallerBulkheads();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  let started = 0;
  const run = (caller: Caller) => runForCaller(caller, cost, () => (started++, promise));
  const runMany = (count: number, callerOf: (at: number) => Caller) =>
    Array.from({ length: count }, (_, at) => run(callerOf(at)));
  return { run, runMany, started: () => started, release };
}

it.each<[string, (at: number) => Caller, number, number]>([
  ['a session', () => ANN, 6, 1_000],
  ['callers without an account at one address', () => STRANGER, 256, 1_000],
  ['all networks of an IPv6 site', ofSite, 1_024, 1_000],
  ['operators', () => OPERATOR, 1_000, 0],
])('limits the number of running and waiting operations: %s', async (_who, callerOf, running, waiting) => {
  const { run, runMany, started, release } = heldWork();
  const all = runMany(running + waiting, callerOf);
  expect(started()).toBe(running);
  const extensions = { code: 'RATE_LIMITED', retryAfterSeconds: 1 };
  if (waiting > 0) await expect(run(callerOf(0))).rejects.toMatchObject({ extensions });
  release();
  await Promise.all(all);
  expect(started()).toBe(running + waiting);
});

it.each([
  ['default pages in a session', 199, ofAnn(1), 6],
  ['default pages in ten sessions of an account', 199, ofAnn(10), 20],
  ['pages of 100 in a session', 201, ofAnn(1), 3],
  ['pages of 100 in ten sessions of an account', 201, ofAnn(10), 10],
  ['as large as they may be in a session', 100_000, ofAnn(1), 2],
  ['as large as they may be in ten sessions of an account', 100_000, ofAnn(10), 6],
  ['pages of strangers at one address, as a login may read them', 201, () => STRANGER, 128],
])('runs fewer operations of a caller at once the more they cost: %s', async (_which, cost, callerOf, most) => {
  const { runMany, started, release } = heldWork(cost);
  const all = runMany(300, callerOf);
  expect(started()).toBe(most);
  release();
  await Promise.all(all);
});

it('gives the place of a caller that disconnects to the next one', async () => {
  const { run, runMany, started, release } = heldWork();
  const connection = new AbortController();
  const running = runMany(16, () => ANN);
  const given = Promise.allSettled(runMany(1_000, () => ({ ...ANN, signal: connection.signal })));
  connection.abort();
  expect(new Set((await given).map(({ status }) => status))).toEqual(new Set(['rejected']));
  const next = run(ANN);
  release();
  await Promise.all([...running, next]);
  expect(started()).toBe(17);
});
