import { createLog } from '@taskmesh/service';
import { createSubgraph, readTypeDefs } from '@taskmesh/internal-api';
import type { TaskPage } from './task-order.ts';
import type { ListRequest } from './list.statements.ts';
import type { Reader, TaskRepository } from './task.repository.ts';
import { createTaskService, type TaskService, type TaskServiceDeps } from './task.service.ts';
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

it('counts the tasks of the owners in a list once, and reads each list below them once per level', async () => {
  const { data, ...reads } = await readsOf('{ tasks { edges { node { owner { taskStatistics { total } } } } } }');
  expect(reads).toEqual({ statistics: 1, list: 1 });
  const node = { owner: { taskStatistics: { total: 30 } } };
  expect(data).toEqual({ tasks: { edges: Array.from({ length: 30 }, () => ({ node })) } });
  const query = `{ tasks { edges { node { owner {
    tasks { edges { node { owner { taskStatistics { total } } } } } a: tasks(first: 2) { totalCount }
  } } } } }`;
  expect(await readsOf(query)).toMatchObject({ statistics: 1, list: 3 });
});

it('reads again for another request and after each mutation', async () => {
  const query = '{ taskStatistics { total } }';
  expect(await readsOf(query, query)).toMatchObject({ statistics: 2 });
  const create = 'createTask(input: { title: "new" }) { ...T }';
  const mutation = `mutation { a: ${create} b: ${create} } fragment T on Task { owner { taskStatistics { total } } }`;
  expect(await readsOf(mutation)).toMatchObject({ statistics: 2 });
});

describe('large responses', () => {
  /** Lists of owners who have more tasks than any page, and a record of the reads. */
  function createWorld() {
    const begun: string[] = [];
    const repository = {
      list: async ({ ownerId, limit, isSerialized }: ListRequest & Reader) => {
        begun.push(`${ownerId} ${limit}${isSerialized ? ' in its turn' : ''}`);
        await new Promise(setImmediate);
        return { tasks: Array.from({ length: limit }, () => ({ ownerId })), total: 9 };
      },
      statistics: async ({ ownerId, isSerialized }: Reader) => {
        begun.push(`${ownerId} statistics${isSerialized ? ' in its turn' : ''}`);
        return { total: 9, completed: 0 };
      },
    } as unknown as TaskRepository;
    const subgraph = createSubgraph({
      name: 'tasks',
      typeDefs: readTypeDefs(`${import.meta.dirname}/..`),
      resolvers: createTasksResolvers(createTaskService({ repository } as unknown as TaskServiceDeps)),
      log: createLog({ service: 'tasks', level: 'silent' }),
    });
    const request = (userId: string, query: string, ip?: string) => {
      const { promise: sent, resolve: send } = Promise.withResolvers<void>();
      const identity = { role: 'user', userId, sessionId: 's', ...(ip && { ip }) } as const;
      return { send, result: subgraph.execute({ query }, { identity, requestId: 'r', sent }) };
    };
    return { begun, request };
  }
  const pages = (...firsts: number[]) =>
    `{ ${firsts.map((first, at) => `p${at}: tasks(first: ${first}) { edges { __typename } }`).join(' ')} }`;
  const settled = () => new Promise((resolve) => setTimeout(resolve, 10));

  it('take turns: few owners at a time, one response for each until it is sent, without delaying small ones', async () => {
    const { begun, request } = createWorld();
    const own = [1, 2].map(() => request('ada', pages(1_000)));
    const [bob, cyd] = ['bob', 'cyd'].map((user) => request(user, pages(1_000)));
    await bob?.result;
    await settled();
    const whole = ['ada 1001 in its turn', 'bob 1001 in its turn'];
    expect(begun).toEqual(['ada 101', 'ada 101', 'bob 101', 'cyd 101', ...whole]);
    await request('bob', pages(50)).result;
    own[0]?.send();
    await cyd?.result;
    await settled();
    expect(begun.slice(6)).toEqual(['bob 51', 'cyd 1001 in its turn']);
    bob?.send();
    await own[1]?.result;
    expect(begun.at(-1)).toBe('ada 1001 in its turn');
    for (const each of [own[1], cyd]) each?.send();
  });

  it('take turns by network, so that one with many accounts does not delay another', async () => {
    const { begun, request } = createWorld();
    const many = Array.from({ length: 12 }, (_, n) => request(`bot ${n}`, pages(1_000), '192.0.2.1'));
    await settled();
    const ada = request('ada', pages(1_000), '192.0.2.2');
    await settled();
    for (const { send } of many.slice(0, 2)) send();
    await ada.result;
    const turns = begun.filter((read) => read.endsWith('turn')).map((read) => read.split(' 1001')[0]);
    for (const { send } of [...many, ada]) send();
    expect(turns).toEqual(['bot 0', 'bot 1', 'bot 2', 'ada']);
  });

  it('include several pages that have many tasks together', async () => {
    const { begun, request } = createWorld();
    const [one, two, three] = ['ada', 'bob', 'cyd'].map((user) => request(user, pages(100, 100, 100)));
    await settled();
    expect(begun.filter((read) => read.startsWith('cyd'))).toEqual(['cyd 101']);
    for (const sent of [one, two]) sent?.send();
    expect((await three?.result)?.errors).toBeUndefined();
    expect(begun.filter((read) => read.startsWith('cyd'))).toEqual([
      'cyd 101',
      ...Array(2).fill('cyd 101 in its turn'),
    ]);
    three?.send();
  });
});
