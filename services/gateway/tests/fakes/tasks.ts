import { badUserInput } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import { requireUser, type SubgraphContext } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import type { TaskFragment } from '../../src/rest/operations.ts';
import { createStore } from './change-store.ts';
import { createFakeSubgraph } from './fake-subgraph.ts';

/** From now on, every request to the service waits until `release`; with `isOf`, those of such callers only. */
export function holdExecution(
  { subgraph }: Pick<FakeTasks, 'subgraph'>,
  isOf: (identity: Identity) => boolean = () => true,
) {
  const { execute } = subgraph;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  subgraph.execute = async (request, call) => {
    if (isOf(call.identity)) {
      held++;
      await released;
    }
    return execute(request, call);
  };
  return { held: () => held, isHeld: () => held > 0, release };
}

export type FakeTasks = ReturnType<typeof createFakeTasks>;

/** A tasks service in memory: each user has two tasks. */
export function createFakeTasks(log: Log) {
  /** The callers and their traces, call by call. */
  const calls: Pick<SubgraphContext, 'identity' | 'traceparent' | 'isTraced'>[] = [];
  const { tasks, commit, cursor, respondLate, restore } = createStore({ mostAtOnce: Infinity });
  const changes = { ...tasks, commit, cursor, respondLate, restore };
  let failure: Error | undefined;

  const taskOf = (userId: string, number: number): TaskFragment & { owner: object; version: number } => ({
    id: `${userId}-task-${number}`,
    title: `Task ${number} of ${userId}`,
    description: null,
    completed: false,
    dueDate: null,
    category: null,
    priority: 'MEDIUM',
    createdAt: '2026-11-20T10:00:00.000Z',
    updatedAt: '2026-11-20T10:00:00.000Z',
    version: 1,
    owner: { __typename: 'User', id: userId },
  });

  const pageOf = (userId: string, first: number) => {
    if (first < 1 || first > 1_000) throw badUserInput([{ path: 'first', message: 'first must be from 1 to 1000.' }]);
    const nodes = [1, 2].slice(0, first).map((number) => taskOf(userId, number));
    return {
      edges: nodes.map((node) => ({ cursor: node.id, node })),
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
      totalCount: 2,
      changesCursor: 'cursor',
    };
  };

  const caller = ({ identity, traceparent, isTraced }: SubgraphContext) => {
    calls.push({ identity, ...(isTraced !== undefined && { isTraced }), ...(traceparent && { traceparent }) });
    if (failure) throw failure;
    return requireUser(identity).userId;
  };

  const resolvers = {
    Query: {
      task: (_: unknown, { id }: { id: string }, ctx: SubgraphContext) => {
        const userId = caller(ctx);
        return id === `${userId}-task-1` ? taskOf(userId, 1) : null;
      },
      tasks: (_: unknown, { first }: { first: number }, ctx: SubgraphContext) => pageOf(caller(ctx), first),
      taskStatistics: (_: unknown, __: unknown, ctx: SubgraphContext) => {
        caller(ctx);
        return { total: 2, completed: 0, pending: 2, completionPercentage: 0 };
      },
    },
    User: {
      __resolveReference: (reference: { id: string }, ctx: SubgraphContext) =>
        caller(ctx) === reference.id ? reference : null,
      tasks: ({ id }: { id: string }, { first }: { first: number }) => pageOf(id, first),
    },
    Mutation: {
      createTask: (_: unknown, { input }: { input: { title: string } }, ctx: SubgraphContext) => ({
        ...taskOf(caller(ctx), 3),
        title: input.title,
      }),
    },
  };

  return {
    subgraph: createFakeSubgraph('tasks', resolvers, log),
    internal: changes,
    /** The changes; its `commit` does not publish them. */
    changes,
    calls,
    /** Every resolver throws this until it is unset. */
    fail: (error: Error | undefined) => void (failure = error),
  };
}
