import { jest } from '@jest/globals';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import { AppError, HTTP_STATUS, type ErrorCode } from '@taskmesh/contracts';
import fc from 'fast-check';
import { buildSchema, execute, GraphQLError, parse, printSchema } from 'graphql';
import type { RequestCall } from '../src/supergraph/operation.ts';
import { ADA, createBothWorlds, createCall, OPTIONS, UNAVAILABLE, type BothWorlds } from './fakes/both-connections.ts';
import { randomOperation, type RandomOperation } from './fakes/random-operations.ts';
import type { World } from './fakes/world.ts';

let both: BothWorlds;

beforeAll(async () => {
  both = await createBothWorlds();
});
beforeEach(() => {
  both.reset();
});
afterAll(() => both.stop());

/** What graphql-js passes to root resolvers: services must get the same, over every kind of connection. */
async function argumentsOf({ source, variables }: RandomOperation): Promise<unknown[][]> {
  const [world] = both.worlds;
  const calls: unknown[][] = [];
  await execute({
    schema: buildSchema(printSchema(world.executor.schema)),
    document: parse(source),
    variableValues: variables,
    fieldResolver: (_source, args, _context, { fieldName }) => void calls.push([fieldName, args]),
  });
  return calls;
}

/** The graph passes this on to one service verbatim. */
const UPDATE =
  'mutation($id: ID!, $d: String, $c: Boolean) { updateTask(id: $id, input: {title: "x", description: $d, completed: $c}) { id } }';

describe('variables', () => {
  it.each<[string, Record<string, unknown>, object]>([
    ['that are omitted stay away', {}, { title: 'x' }],
    ['that are null are null', { d: null }, { title: 'x', description: null }],
    ['that are given arrive', { d: 'text', c: false }, { title: 'x', description: 'text', completed: false }],
  ])('%s', async (_what, variables, input) => {
    const { seen, outcome } = await both.run(UPDATE, { id: '1', ...variables });
    expect(outcome).toEqual({ result: { data: { updateTask: { id: '1' } } } });
    expect(seen.map(([name]) => name)).toEqual(['updateTask']);
    expect(seen[0]?.[1]).toHaveProperty('input', input);
  });

  it('that are omitted are not even sent as undefined', async () => {
    for (const { connections, executor } of both.worlds) {
      const request = jest.spyOn(connections, 'request');
      await executor.run(executor.prepare(UPDATE), { id: '1', c: true }, createCall());
      const { variables } = request.mock.calls[0]?.[2] as SubgraphRequest; // what is sent
      expect(variables).toStrictEqual({ id: '1', c: true });
      request.mockRestore();
    }
  });

  it('in any place, given or not, mean what they mean to graphql-js', async () => {
    const property = fc.asyncProperty(randomOperation, async (operation) => {
      both.reset();
      const { seen, outcome } = await both.run(operation.source, operation.variables);
      const expected = await argumentsOf(operation);
      const { errors } = outcome.result as unknown as { errors?: GraphQLError[] };
      if (errors) return expect([seen, expected]).toEqual([[], []]);
      const [root] = expected;
      expect(JSON.stringify(seen.find(([name]) => name === root?.[0] && name !== 'me')?.[1])).toBe(
        root?.[0] === 'me' ? undefined : JSON.stringify(root?.[1]),
      );
    });
    await fc.assert(property, { seed: 12, numRuns: 300 });
  });

  it('of any form arrive as JSON would carry them', async () => {
    const value = fc.anything({ withDate: true, withSparseArray: true });
    const property = fc.asyncProperty(value, async (d) => {
      both.reset();
      const query = 'mutation($d: DateTime) { updateTask(id: "1", input: { dueDate: $d }) { id } }';
      const send = ({ connections }: World) =>
        connections.request('tasks', undefined, { query, variables: { d } }, OPTIONS);
      const { seen } = await both.inBoth(send);
      expect(seen[0]?.[1]).toEqual(JSON.parse(JSON.stringify({ id: '1', input: { dueDate: d } })));
    });
    await fc.assert(property, { seed: 13, numRuns: 100 });
  });

  it('that JSON has no form for are refused before they are sent', async () => {
    const query = 'query($v: String) { tasks(after: $v) { totalCount } }';
    const send = ({ connections }: World) =>
      connections.request('tasks', undefined, { query, variables: { v: 1n } }, OPTIONS);
    expect(await both.inBoth(send)).toMatchObject({ seen: [], outcome: { error: 'TypeError' } });
  });

  it('cannot be changed by the service for the gateway, nor the identity', async () => {
    const variables = { filter: { category: 'home' } };
    const identity = { ...ADA };
    for (const world of both.worlds) {
      const query = 'query($filter: TaskFilter) { tasks(filter: $filter) { totalCount } }';
      await world.connections.request(
        'tasks',
        undefined,
        { query, variables },
        { ...OPTIONS, call: { identity, requestId: 'r' } },
      );
      const [, args, caller] = world.seen[0] ?? [];
      Object.assign((args as typeof variables).filter, { category: 'changed' });
      if (!Object.isFrozen(caller)) Object.assign(caller as object, { userId: 'eve' });
    }
    expect([variables, identity]).toEqual([{ filter: { category: 'home' } }, ADA]);
  });
});

describe('who asks', () => {
  it.each<Partial<RequestCall>>([
    { identity: { role: 'anonymous' } },
    { identity: { role: 'operator' } },
    { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  ])('is reported in the same way: %j', async (changes) => {
    const source = 'mutation { logout login(input: { email: "a", password: "b" }) { user { tasks { totalCount } } } }';
    const { seen } = await both.run(source, {}, () => createCall(changes));
    expect(seen.map(([name]) => name)).toEqual(['logout', 'login', 'User.tasks']);
  });
});

describe('errors', () => {
  const source = '{ task(id: "1") { id owner { id name } } taskStatistics { total } }';
  const issues = [{ path: 'id', message: 'No.' }];

  it.each<[string, string, () => unknown]>([
    ...Object.keys(HTTP_STATUS).flatMap((code): [string, string, () => unknown][] =>
      ['task', 'owner', 'user', 'taskStatistics'].map((name) => [
        code,
        name,
        () => {
          throw new AppError(code as ErrorCode, `It is ${code}.`, { issues, retryAfterSeconds: 7 }); // the codes are its keys
        },
      ]),
    ),
    ['a defect', 'task', () => Promise.reject(new TypeError('secret'))],
    ['a defect', 'user', () => Promise.reject(new TypeError('secret'))],
    ['no error', 'task', () => Promise.reject('secret')],
    ['a GraphQLError', 'owner', () => Promise.reject(new GraphQLError('Wrong.', { extensions: { code: 'CONFLICT' } }))],
    ['a value that is none', 'taskStatistics', () => ({ total: 'secret' })],
    ['nothing', 'user', () => null],
  ])('of a resolver (%s in %s) are reported alike', async (_what, field, behaviour) => {
    both.behave((name) => (name === field ? behaviour() : undefined));
    const { outcome } = await both.run(source, {});
    expect(outcome.result).toHaveProperty('errors');
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it.each([
    ['that does not parse', { query: '{' }],
    ['that does not validate', { query: '{ nothing }' }],
    ['without that operation', { query: 'query A { __typename } query B { __typename }', operationName: 'C' }],
    ['with wrong variables', { query: 'query($f: Int!) { tasks(first: $f) { totalCount } }', variables: { f: 'x' } }],
    ['without its variables', { query: 'query($f: Int!) { tasks(first: $f) { totalCount } }', variables: null }],
  ])('of a request %s are reported alike', async (_what, request) => {
    const { outcome, seen } = await both.inBoth(({ connections }) =>
      connections.request('tasks', undefined, request, OPTIONS),
    );
    expect(outcome.result).toHaveProperty('errors');
    expect(seen).toEqual([]);
  });

  it('of requests to an unreachable service are reported alike', async () => {
    const send = ({ connections }: World) => connections.request('unknown', undefined, { query: '{ a }' }, OPTIONS);
    expect((await both.inBoth(send)).outcome).toMatchObject(UNAVAILABLE);
  });
});
