import { requireUser, selects, type SubgraphContext } from '@taskmesh/internal-api';
import { unavailable } from '@taskmesh/contracts';
import { createFairQueue } from '@taskmesh/service';
import type { GraphQLResolveInfo } from 'graphql';
import type { Resolvers } from '../graphql/types.generated.ts';
import { cursorOf, type RequestedFields } from './task-order.ts';
import type { Caller, ListArguments, TaskService } from './task.service.ts';

/** How many responses with large pages are made at once, of all owners. */
const LARGE_AT_ONCE = 2;
const MAX_WAITING = 256;
const MAX_WAIT_MS = 5_000;

export function createTasksResolvers(tasks: TaskService): Resolvers {
  const turnOf = takeTurns();
  const list = shareInFlight((args: ListArguments, context, info) =>
    tasks.list(callerOf(context), args, requestedFieldsOf(info), () => turnOf(context)),
  );
  const statistics = shareInFlight((_args: object, context) => tasks.statistics(callerOf(context)));
  return {
    // Maps the graph's names to those in the store and the log.
    TaskPriority: { LOW: 'low', MEDIUM: 'medium', HIGH: 'high' },
    Query: {
      task: (_parent, { id }, context) => tasks.find(callerOf(context), id),
      tasks: list,
      taskStatistics: statistics,
    },
    Mutation: {
      createTask: (_parent, { input, idempotencyKey }, context) =>
        tasks.create(callerOf(context), input, idempotencyKey),
      updateTask: (_parent, { id, input, ifVersion }, context) => tasks.update(callerOf(context), id, input, ifVersion),
      deleteTask: (_parent, { id, ifVersion }, context) => tasks.remove(callerOf(context), id, ifVersion),
    },
    Task: {
      __resolveReference: ({ id }, context) => tasks.find(callerOf(context), id),
      owner: ({ ownerId }) => ({ __typename: 'User', id: ownerId }),
    },
    TaskEdge: {
      cursor: ({ node, order }) => cursorOf(node, order),
    },
    User: {
      // Other users do not exist here. The fields below use the caller's tasks, with any name in the reference.
      __resolveReference: ({ id }, context) => (id === callerOf(context).userId ? { __typename: 'User', id } : null),
      tasks: list,
      taskStatistics: statistics,
    },
  };
}

/**
 * Requests with large pages take turns by owner. A turn lasts until the response is sent, so that few of them are in memory, however
 * many are requested. A request takes one turn for all of its pages.
 */
function takeTurns() {
  const turns = createFairQueue({
    concurrency: LARGE_AT_ONCE,
    maxWaiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
    refusal: () => unavailable('Other large pages are still being sent; try again, or ask for fewer tasks.'),
  });
  const taken = new WeakMap<SubgraphContext, Promise<void>>();
  return (context: SubgraphContext): Promise<void> => {
    const known = taken.get(context);
    if (known) return known;
    const turn = new Promise<void>((resolve, reject) => {
      const hold = () => {
        resolve();
        return context.ended;
      };
      turns.run(callerOf(context).userId, hold).catch(reject);
    });
    taken.set(context, turn);
    return turn;
  };
}

/**
 * Objects of one request that read the same field at the same time, such as the owners of a list's tasks, share the
 * result: all of them are the caller.
 */
function shareInFlight<Args, Result>(
  read: (args: Args, context: SubgraphContext, info: GraphQLResolveInfo) => Promise<Result>,
) {
  const inFlight = new WeakMap<SubgraphContext, Map<unknown, Promise<Result>>>();
  return (_parent: unknown, args: Args, context: SubgraphContext, info: GraphQLResolveInfo): Promise<Result> => {
    const reads = inFlight.get(context) ?? new Map<unknown, Promise<Result>>();
    inFlight.set(context, reads);
    const { fieldNodes } = info; // one array for all objects of a selection
    const result = reads.get(fieldNodes) ?? read(args, context, info).finally(() => reads.delete(fieldNodes));
    reads.set(fieldNodes, result);
    return result;
  };
}

function callerOf({ identity, traceparent }: SubgraphContext): Caller {
  return { userId: requireUser(identity).userId, traceparent };
}

function requestedFieldsOf(info: GraphQLResolveInfo): RequestedFields {
  return {
    tasks: selects(info, 'edges') || selects(info, 'pageInfo'),
    totalCount: selects(info, 'totalCount'),
    changesCursor: selects(info, 'changesCursor'),
    hasPreviousPage: selects(info, 'pageInfo', 'hasPreviousPage'),
  };
}
