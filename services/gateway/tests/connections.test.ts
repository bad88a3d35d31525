import { AppError, HTTP_STATUS, type ErrorCode } from '@taskmesh/contracts';
import type { SubgraphContext } from '@taskmesh/internal-api';
import { createLog, stopAll, systemClock } from '@taskmesh/service';
import { atEnd, eventually } from '@taskmesh/testing';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import fc from 'fast-check';
import { GraphQLError } from 'graphql';
import type { Connections, RequestOptions, ServiceCall } from '../src/connections/connections.ts';
import { connectInProcess } from '../src/connections/in-process.ts';
import { createFakeSubgraph } from './fakes/fake-subgraph.ts';
import { createFakes } from './fakes/gateway.ts';
import { connectServers } from './fakes/servers.ts';

const ADA = { role: 'user', userId: 'ada', sessionId: 'session' } as const;
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', message: 'The service is not available right now; try again.' };

interface Side {
  connections: Connections;
  /** Every call of a resolver or internal function, with its arguments and its caller. */
  seen: unknown[][];
  /** What a resolver or an internal function does instead of its default. */
  behave: ((name: string) => unknown) | undefined;
  /** Whether the caller no longer waits for the last resolver that was called. */
  isCancelled: () => boolean;
}

/** The tasks service behind one kind of connection. It records its calls, and behaves as configured. */
async function createSide(isOverHttp: boolean): Promise<Side> {
  const log = createLog({ service: 'test', level: 'silent' });
  const { services } = await createFakes(log);
  const on = (name: string, usual: unknown) => async (_source: unknown, args: object, context: SubgraphContext) => {
    side.seen.push([name, args, context.identity, context.traceparent]);
    side.isCancelled = () => context.isCancelled?.() ?? false;
    return (await side.behave?.(name)) ?? usual;
  };
  const internal =
    (name: string) =>
    async (...args: unknown[]) => {
      side.seen.push([name, args]);
      return (await side.behave?.(name)) as never;
    };
  const resolvers = {
    Query: {
      task: on('task', { id: '1' }),
      tasks: on('tasks', {}),
      taskStatistics: on('taskStatistics', { total: 2 }),
    },
    Mutation: { updateTask: on('updateTask', { id: '1' }), deleteTask: on('deleteTask', '2') },
    TaskConnection: { totalCount: () => 2 },
  };
  services.tasks.subgraph = createFakeSubgraph('tasks', resolvers, log);
  services.tasks.internal = { heads: internal('heads'), changesAfter: internal('changesAfter') } as never; // all that is called
  const { connections, servers = {} } = isOverHttp
    ? await connectServers(services, log, systemClock)
    : { connections: connectInProcess(services) };
  atEnd(() => stopAll(Object.values(servers)));
  atEnd(() => connections.close());
  const side: Side = { connections, seen: [], behave: undefined, isCancelled: () => false };
  return side;
}

let sides: Side[];

beforeAll(async () => void (sides = [await createSide(false), await createSide(true)]));
beforeEach(() => {
  for (const side of sides) Object.assign(side, { seen: [], behave: undefined });
});

const behave = (behaviour: Side['behave']) => {
  for (const side of sides) side.behave = behaviour;
};
const names = ({ seen }: Side) => seen.map(([name]) => name);

interface Outcome {
  result?: { data?: unknown; errors?: unknown };
  code?: ErrorCode;
}

/** Does the same in one process and over HTTP. Fails unless the outcomes and the calls that the service saw are the same. */
async function inBoth(act: (connections: Connections) => Promise<unknown>) {
  const outcomes = await Promise.all(
    sides.map(async ({ connections, seen }) => {
      const outcome = await act(connections).then(
        (result) => ({ result }),
        (error: AppError) => ({ code: error.code, message: error.message, issues: error.issues, error: error.name }),
      );
      return { outcome: outcome as Outcome, seen: [...seen] };
    }),
  );
  const [inProcess, overHttp] = outcomes;
  expect(inProcess).toStrictEqual(overHttp);
  return overHttp ?? { outcome: {}, seen: [] };
}

const send = (request: SubgraphRequest, options: Partial<RequestOptions> = {}, service = 'tasks') =>
  inBoth((connections) =>
    connections.request(service, undefined, request, {
      ...{ call: { identity: ADA, requestId: 'request' }, idempotent: true, timeoutMs: 10_000 },
      ...options,
    }),
  );

const STATISTICS = { query: '{ taskStatistics { total } }' };
const FIRST = { query: '{ task(id: "1") { id } taskStatistics { total } }' };
const CHANGES = { query: 'mutation { a: updateTask(id: "1", input: {}) { id } b: deleteTask(id: "2") }' };

describe('variables', () => {
  it('of any form arrive as JSON would carry them', async () => {
    const query = 'mutation($d: DateTime) { updateTask(id: "1", input: { dueDate: $d }) { id } }';
    const property = fc.asyncProperty(fc.anything({ withDate: true, withSparseArray: true }), async (d) => {
      for (const side of sides) side.seen = [];
      const { seen } = await send({ query, variables: { d } });
      expect(seen[0]?.[1]).toEqual(JSON.parse(JSON.stringify({ id: '1', input: { dueDate: d } })));
    });
    await fc.assert(property, { seed: 13, numRuns: 100 });
  });

  it('that JSON cannot represent are refused before they are sent', async () => {
    const query = 'query($v: String) { tasks(after: $v) { totalCount } }';
    expect(await send({ query, variables: { v: 1n } })).toMatchObject({ seen: [], outcome: { error: 'TypeError' } });
  });

  it('of the gateway cannot be changed by the service, nor can the identity', async () => {
    const variables = { filter: { category: 'home' } };
    const identity = { ...ADA };
    const query = 'query($filter: TaskFilter) { tasks(filter: $filter) { totalCount } }';
    await send({ query, variables }, { call: { identity, requestId: 'r' } });
    for (const { seen } of sides) {
      const [, args, caller] = seen[0] ?? [];
      Object.assign((args as typeof variables).filter, { category: 'changed' });
      if (!Object.isFrozen(caller)) Object.assign(caller as object, { userId: 'eve' });
    }
    expect([variables, identity]).toEqual([{ filter: { category: 'home' } }, ADA]);
  });
});

it.each<Pick<ServiceCall, 'identity' | 'traceparent'>>([
  { identity: { role: 'anonymous' } },
  { identity: { role: 'operator' } },
  { identity: ADA, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
])('the caller is reported in the same way: %j', async (caller) => {
  const { seen } = await send(STATISTICS, { call: { requestId: 'r', ...caller } });
  expect(seen).toEqual([['taskStatistics', {}, caller.identity, caller.traceparent]]);
});

/** The ways in which a service may fail. */
const FAILURES: [string, () => unknown][] = [
  ...(Object.keys(HTTP_STATUS) as ErrorCode[]).map((code): [string, () => unknown] => {
    const details = { issues: [{ path: 'id', message: 'No.' }], retryAfterSeconds: 7 };
    return [code, () => Promise.reject(new AppError(code, `It is ${code}.`, details))];
  }),
  ['a defect', () => Promise.reject(new TypeError('secret'))],
  ['no error', () => Promise.reject('secret')],
];

describe('errors', () => {
  it.each<[string, () => unknown]>([
    ...FAILURES,
    ['a GraphQLError', () => Promise.reject(new GraphQLError('Wrong.', { extensions: { code: 'CONFLICT' } }))],
    ['a value of another type', () => ({ total: 'secret' })],
  ])('of a resolver are reported alike: %s', async (_what, behaviour) => {
    behave((name) => (name === 'taskStatistics' ? behaviour() : undefined));
    const { outcome } = await send(FIRST);
    expect(outcome.result).toHaveProperty('errors');
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it.each<[string, SubgraphRequest]>([
    ['that does not parse', { query: '{' }],
    ['that does not validate', { query: '{ nothing }' }],
    ['without that operation', { query: 'query A { __typename } query B { __typename }', operationName: 'C' }],
    ['with wrong variables', { query: 'query($f: Int!) { tasks(first: $f) { totalCount } }', variables: { f: 'x' } }],
  ])('of a request %s are reported alike', async (_what, request) => {
    const { outcome, seen } = await send(request);
    expect(outcome.result).toHaveProperty('errors');
    expect(seen).toEqual([]);
  });

  it('of requests to an unreachable service are reported alike', async () => {
    expect((await send({ query: '{ a }' }, {}, 'unknown')).outcome).toMatchObject(UNAVAILABLE);
  });
});

describe('the deadline', () => {
  const held = () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    behave((name) => (['task', 'updateTask'].includes(name) ? promise : undefined));
    return release;
  };

  it('of a query ends it, and no further resolver begins', async () => {
    const release = held();
    const { outcome } = await send(FIRST, { timeoutMs: 1_000 });
    expect(outcome).toMatchObject(UNAVAILABLE);
    for (const { isCancelled } of sides) await eventually(() => expect(isCancelled()).toBe(true));
    release();
    await send(STATISTICS);
    for (const side of sides) expect(names(side)).toEqual(['task', 'taskStatistics', 'taskStatistics']);
  });

  it('of a mutation is kept, and the mutation that has begun runs to its end', async () => {
    const release = held();
    const { outcome } = await send(CHANGES, { timeoutMs: 1_000, idempotent: false });
    expect(outcome).toMatchObject(UNAVAILABLE);
    release();
    for (const side of sides) await eventually(() => expect(names(side)).toEqual(['updateTask', 'deleteTask']));
  });

  it('of an internal call is 3 s', async () => {
    behave(() => new Promise(() => undefined));
    const began = performance.now();
    expect((await inBoth(({ tasks }) => tasks.heads([]))).outcome).toMatchObject(UNAVAILABLE);
    expect(performance.now() - began).toBeGreaterThan(2_900);
  });
});

describe('a caller that disconnects', () => {
  it('before anything is sent gets nothing, and the service receives nothing', async () => {
    for (const request of [FIRST, CHANGES]) {
      const { outcome, seen } = await send(request, { signal: AbortSignal.abort(), idempotent: request === FIRST });
      expect([outcome.code, seen]).toEqual(['SERVICE_UNAVAILABLE', []]);
    }
  });

  it.each([
    ['ends its query between two resolvers', FIRST, true],
    ['ends no mutation that was sent', CHANGES, false],
  ])('%s', async (_what, request, idempotent) => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const client = new AbortController();
    let begun = 0;
    behave((name) => {
      if (!['task', 'updateTask'].includes(name)) return undefined;
      if (++begun === sides.length) client.abort();
      return promise;
    });
    const sent = send(request, { signal: client.signal, idempotent, timeoutMs: 60_000 }); // it is not the deadline that ends it
    await eventually(() => expect(client.signal.aborted).toBe(true));
    if (idempotent) for (const { isCancelled } of sides) await eventually(() => expect(isCancelled()).toBe(true));
    release();
    expect((await sent).outcome).toMatchObject(idempotent ? UNAVAILABLE : { result: { data: { b: '2' } } });
  });
});

describe('an internal call', () => {
  const call = ({ tasks }: Connections) => tasks.changesAfter('ada', 1, undefined as never);

  it.each<[string, unknown]>([
    ['JSON', { epoch: 1, expired: false, changes: [{ id: '1', task: { title: 'ä' } }] }],
    ['more than JSON', { at: new Date(0), left: undefined, list: [undefined, Number.NaN], map: new Map() }],
    ['nothing', undefined],
    ['null', null],
    ['false', false],
  ])('receives the same arguments and returns the same result for %s', async (_what, answer) => {
    behave(() => answer);
    const { seen, outcome } = await inBoth(call);
    expect(seen).toEqual([['changesAfter', ['ada', 1, null]]]);
    expect(outcome).toStrictEqual({ result: JSON.parse(JSON.stringify(answer ?? null)) });
  });

  it.each<[string, () => unknown]>([...FAILURES, ['what JSON has no form for', () => 1n]])(
    'fails alike: %s',
    async (_what, behaviour) => {
      behave(behaviour);
      const { outcome } = await inBoth(call);
      expect(outcome).toMatchObject({ error: 'AppError' });
      expect(JSON.stringify(outcome)).not.toContain('secret');
    },
  );

  it('shares no object with the service', async () => {
    const [heads, owners] = [{ ada: 1 }, ['ada']];
    behave(() => ({ epoch: 1, heads }));
    for (const { connections, seen } of sides) {
      expect((await connections.tasks.heads(owners)).heads).not.toBe(heads);
      expect(seen[0]?.[1]).not.toContain(owners);
    }
  });
});
