import { createLog } from '@taskmesh/service';
import { createSubgraph, readTypeDefs } from '@taskmesh/internal-api';
import type { TaskPage } from './task-order.ts';
import type { TaskService } from './task.service.ts';
import { createTasksResolvers } from './tasks.resolvers.ts';

const OWNER = 'c6a0ab0e-0b7e-4f0b-9d0b-5d9d5b0e2a11';
const pageOf = (count: number) => {
  const edges = Array.from({ length: count }, () => ({ node: { ownerId: OWNER } }));
  return { edges, totalCount: count } as TaskPage; // what the operations below select
};

/** Counts what each operation reads from the store. */
async function readsOf(...queries: string[]) {
  const statistics = jest.fn(async () => ({ total: 30, completed: 0, pending: 30, completionPercentage: 0 }));
  const list = jest.fn(async () => pageOf(30));
  const create = jest.fn(async () => ({ ownerId: OWNER }));
  const subgraph = createSubgraph({
    name: 'tasks',
    typeDefs: readTypeDefs(`${import.meta.dirname}/..`),
    resolvers: createTasksResolvers({ statistics, list, create } as unknown as TaskService),
    log: createLog({ service: 'tasks', level: 'silent' }),
  });
  const identity = { role: 'user', userId: OWNER, sessionId: 's' } as const;
  const results = await Promise.all(queries.map((query) => subgraph.execute({ query }, { identity, requestId: 'r' })));
  for (const { errors } of results) expect(errors).toBeUndefined();
  return { statistics: statistics.mock.calls.length, list: list.mock.calls.length, data: results[0]?.data };
}

it('counts once for all owners of a list', async () => {
  const { data, ...reads } = await readsOf('{ tasks { edges { node { owner { taskStatistics { total } } } } } }');
  expect(reads).toEqual({ statistics: 1, list: 1 });
  const node = { owner: { taskStatistics: { total: 30 } } };
  expect(data).toEqual({ tasks: { edges: Array.from({ length: 30 }, () => ({ node })) } });
});

it('reads each list of owners once, at every level', async () => {
  const query = `{ tasks { edges { node { owner {
    tasks { edges { node { owner { taskStatistics { total } } } } } a: tasks(first: 2) { totalCount }
  } } } } }`;
  expect(await readsOf(query)).toMatchObject({ statistics: 1, list: 3 });
});

it('reads again for another request, and after each mutation', async () => {
  const query = '{ taskStatistics { total } }';
  expect(await readsOf(query, query)).toMatchObject({ statistics: 2 });
  const create = 'createTask(input: { title: "new" }) { ...T }';
  const mutation = `mutation { a: ${create} b: ${create} } fragment T on Task { owner { taskStatistics { total } } }`;
  expect(await readsOf(mutation)).toMatchObject({ statistics: 2 });
});

it('makes few responses with large pages at once, whose turns last until they are sent, and delays no others', async () => {
  const begun: string[] = [];
  const list = async (
    { userId }: { userId: string },
    args: { first?: unknown },
    _requested: unknown,
    turn: () => Promise<void>,
  ) => {
    if (args.first === 1_000) await turn();
    begun.push(`${userId} ${args.first}`);
    return pageOf(1);
  };
  const subgraph = createSubgraph({
    name: 'tasks',
    typeDefs: readTypeDefs(`${import.meta.dirname}/..`),
    resolvers: createTasksResolvers({ list } as unknown as TaskService),
    log: createLog({ service: 'tasks', level: 'silent' }),
  });
  const request = (userId: string, first: number) => {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const identity = { role: 'user', userId, sessionId: 's' } as const;
    const query = `{ a: tasks(first: ${first}) { edges { node { id } } } b: tasks(first: ${first}) { totalCount } }`;
    return { send, result: subgraph.execute({ query }, { identity, requestId: 'r', sent }) };
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 10));
  const large = Array.from({ length: 4 }, () => request('ada', 1_000));
  const other = request('bob', 1_000);
  await settled();
  expect(begun).toEqual(Array(4).fill('ada 1000')); // two requests of two pages
  await request('bob', 50).result;
  large[0]?.send();
  large[1]?.send();
  await other.result;
  expect(begun.slice(4)).toEqual(['bob 50', 'bob 50', 'ada 1000', 'ada 1000', 'bob 1000', 'bob 1000']);
  for (const { send } of [...large, other]) send();
  await Promise.all(large.map(({ result }) => result));
  expect(begun).toHaveLength(12);
});
