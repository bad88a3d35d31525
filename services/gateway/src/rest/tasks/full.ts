import { codePoints } from '@taskmesh/contracts';
import { checkedQuery, successResponse, type Endpoint, endpoint, listResponse, queryText } from '../endpoint.ts';
import { OPERATIONS, type RestTasksQueryVariables } from '../operations.ts';
import { taskResponse, statistics, taskList } from '../schemas/responses.ts';
import { doneSchema } from '../schemas/parts.ts';
import { listQuery, type ListQuery, taskCreate, taskUpdate } from '../schemas/requests.ts';
import { enumOf, LIST_LIMIT, oneTaskEndpoints, toTask } from './one-task.ts';

const CATEGORY_MAX = 255;

/** The full task contract: every response is wrapped in `success`, `message`, `data`. */
export const fullEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /tasks', {
    name: 'listTasks',
    summary: "List the caller's tasks",
    description:
      'When sorted by `due_date`, tasks without one come last in either order. `priority` sorts by importance, not by name. A ' +
      'response has at most 1,000 tasks; `Link` points to the next page.',
    needs: OPERATIONS.tasks,
    query: checkedQuery(listQuery),
    responseSchema: taskList,
    isPaged: true,
    handle: async ({ query, claims, run }) => {
      // Longer than any task's category, so nothing can match.
      if (codePoints(query.category ?? '') > CATEGORY_MAX) return listResponse('task', []);
      const { tasks } = await run(OPERATIONS.tasks, listVariables(query));
      const response = listResponse(
        'task',
        tasks.edges.map(({ node }) => toTask(node, claims.userId)),
      );
      return tasks.pageInfo.hasNextPage ? { ...response, next: nextQuery(query) } : response;
    },
  }),
  endpoint('user', 'GET /tasks/stats', {
    name: 'taskStatistics',
    summary: "Statistics of the caller's tasks",
    needs: OPERATIONS.taskStatistics,
    responseSchema: statistics,
    handle: async ({ run }) => {
      const { taskStatistics: data } = await run(OPERATIONS.taskStatistics, {});
      return successResponse('Statistics of your tasks.', { data });
    },
  }),
  ...oneTaskEndpoints({
    kind: 'Task',
    createBody: taskCreate,
    updateBody: taskUpdate,
    responseSchema: taskResponse,
    response: (message, task, userId) => successResponse(message, { data: toTask(task, userId) }),
    deletedSchema: doneSchema,
    deleted: (message) => successResponse(message),
  }),
];

/** The same query for the next page. */
function nextQuery({ limit = LIST_LIMIT, offset = 0, ...others }: ListQuery): string {
  return queryText({ limit, ...others, offset: offset + limit });
}

function listVariables(query: ListQuery): RestTasksQueryVariables {
  const { completed, category, priority, sortBy = 'created_at', order = 'desc' } = query;
  const { limit = LIST_LIMIT, offset = 0 } = query;
  return {
    filter: {
      ...(completed !== undefined && { completed: completed === 'true' }),
      ...(category !== undefined && { category }),
      ...(priority !== undefined && { priority: enumOf(priority) }),
    },
    orderBy: { field: enumOf(sortBy), direction: enumOf(order) },
    first: limit,
    offset,
  };
}
