import { requireUser, type SubgraphContext } from '@taskmesh/internal-api';
import { countSelections, selects } from '@taskmesh/subgraph';
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { Resolvers } from '../graphql/types.generated.ts';
import { createRequestReads, networkOfUser } from './request-reads.ts';
import { cursorOf, type RequestedFields } from './task-order.ts';
import type { Caller, ListArguments, TaskService } from './task.service.ts';

export function createTasksResolvers(tasks: TaskService): Resolvers {
  const readsOf = createRequestReads();
  const list = shareInFlight((args: ListArguments, context, info) =>
    tasks.list(callerOf(context), args, requestedFieldsOf(info), readsOf(context)),
  );
  const statistics = shareInFlight((_args: object, context) => tasks.statistics(callerOf(context), readsOf(context)));
  return {
    // Maps the schema's names to those in the store and the log.
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
      // Other users do not exist here. The fields below use the caller's tasks, regardless of the id in the reference.
      __resolveReference: ({ id }, context) => (id === callerOf(context).userId ? { __typename: 'User', id } : null),
      tasks: list,
      taskStatistics: statistics,
    },
  };
}

/**
 * Lets objects of one request that read the same field at the same time share the result. These are for example the owners
 * of a list's tasks: all of them are the caller.
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
  const user = requireUser(identity);
  return { userId: user.userId, network: networkOfUser(user), traceparent };
}

/** By the fields' nodes, which are the same array for each run of a document under the same `@skip` and `@include`. */
const selections = new WeakMap<readonly FieldNode[], RequestedFields>();

function requestedFieldsOf(info: GraphQLResolveInfo): RequestedFields {
  const requested = selections.get(info.fieldNodes) ?? {
    tasks: selects(info, 'edges') || selects(info, 'pageInfo'),
    totalCount: selects(info, 'totalCount'),
    changesCursor: selects(info, 'changesCursor'),
    hasPreviousPage: selects(info, 'pageInfo', 'hasPreviousPage'),
    copies: isBelowList(info) ? MANY_COPIES : countSelections(info, 'edges', 'node'),
  };
  selections.set(info.fieldNodes, requested);
  return requested;
}

/** Assumed for a list inside each task of another list: it is read once, and sent once for each of these tasks. */
const MANY_COPIES = 1_000;

function isBelowList({ path }: GraphQLResolveInfo): boolean {
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev)
    if (typeof at.key === 'number' && at.prev?.key !== '_entities') return true;
  return false;
}
