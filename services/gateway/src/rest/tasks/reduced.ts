import { checkedQuery, type Endpoint, endpoint, queryText } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { messageOnly, reducedList, reducedTask } from '../schemas/responses.ts';
import { reducedListQuery, reducedTaskCreate, reducedTaskUpdate } from '../schemas/requests.ts';
import { enumOf, LIST_LIMIT, oneTaskEndpoints, toReducedTask } from './one-task.ts';

/** The reduced variant: bare objects with fewer fields, over the same tasks. */
export const reducedEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /tasks', {
    name: 'listReducedTasks',
    summary: "List the caller's tasks in pages",
    description: 'A page has at most 1,000 tasks; `total` counts all that match, and `Link` points to the next page.',
    needs: OPERATIONS.tasksAndTotal,
    query: checkedQuery(reducedListQuery),
    responseSchema: reducedList,
    isPaged: true,
    handle: async ({ query, claims, run }) => {
      const { status = 'all', sort = 'created_at', order = 'desc', page = 1, limit = LIST_LIMIT } = query;
      const { tasks } = await run(OPERATIONS.tasksAndTotal, {
        filter: status === 'all' ? {} : { completed: status === 'completed' },
        orderBy: { field: enumOf(sort), direction: enumOf(order) },
        first: limit,
        offset: (page - 1) * limit,
      });
      const data = tasks.edges.map(({ node }) => toReducedTask(node, claims.userId));
      return {
        body: { data, total: tasks.totalCount, page },
        ...(tasks.pageInfo.hasNextPage && { next: queryText({ ...query, page: page + 1 }) }),
      };
    },
  }),
  ...oneTaskEndpoints({
    kind: 'ReducedTask',
    createBody: reducedTaskCreate,
    updateBody: reducedTaskUpdate,
    responseSchema: reducedTask,
    response: (_message, task, userId) => ({ body: toReducedTask(task, userId) }),
    deletedSchema: messageOnly,
    deleted: (message) => ({ body: { message } }),
  }),
];
