import { codePoints } from '@taskmesh/contracts';
import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS, type RestTasksQueryVariables, type TaskFragment } from '../operations.ts';
import { etagOf, idempotencyKeyOf } from '../preconditions.ts';
import { checkedQuery, queryText } from '../endpoint.ts';
import { listQuery, taskCreate, taskUpdate, type ListQuery } from '../schemas/requests.ts';
import {
  deleted,
  oneTask,
  statistics,
  taskList,
  type DeletedBody,
  type OneTaskBody,
  type StatisticsBody,
  type TaskListBody,
} from '../schemas/answers.ts';
import { graphFields, graphPriority, pathTaskId, taskNotFound, taskToChange } from './task-input.ts';
import { toTask } from './task-input.ts';

const LIST_LIMIT = 1_000;
const CATEGORY_MAX = 255;

/** The full task contract: every answer is wrapped in `success`, `message`, `data`. */
export const fullEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'POST',
    path: '/tasks',
    name: 'createTask',
    summary: 'Create a task',
    description: 'If `dueDate` is absent, `due_date` is used.',
    needs: OPERATIONS.createTask,
    bodySchema: taskCreate,
    headers: ['idempotency-key'],
    status: 201,
    answerSchema: oneTask,
    exampleMessage: 'Task created.',
    errors: ['CONFLICT', 'KEY_REUSED'],
    handle: async ({ body, raw, claims, run }) => {
      const idempotencyKey = idempotencyKeyOf(raw);
      const { task } = await run(OPERATIONS.createTask, { input: graphFields(body), idempotencyKey });
      return taskAnswer('Task created.', task, claims.userId);
    },
  }),
  userEndpoint({
    method: 'GET',
    path: '/tasks',
    name: 'listTasks',
    summary: "List the caller's tasks",
    description:
      'When sorted by `due_date`, tasks without one come last in either order. `priority` sorts by importance, not by name. A ' +
      'response has at most 1,000 tasks; `Link` points to the next page.',
    needs: OPERATIONS.tasks,
    query: checkedQuery(listQuery),
    status: 200,
    answerSchema: taskList,
    isPaged: true,
    handle: async ({ query, claims, run }) => {
      // Longer than any task's category, so nothing can match.
      if (codePoints(query.category ?? '') > CATEGORY_MAX) return listAnswer([], claims.userId);
      const { tasks } = await run(OPERATIONS.tasks, listVariables(query));
      const answer = listAnswer(tasks.edges, claims.userId);
      return tasks.pageInfo.hasNextPage ? { ...answer, next: nextQuery(query) } : answer;
    },
  }),
  userEndpoint({
    method: 'GET',
    path: '/tasks/stats',
    name: 'taskStatistics',
    summary: "Statistics of the caller's tasks",
    needs: OPERATIONS.taskStatistics,
    status: 200,
    answerSchema: statistics,
    handle: async ({ run }) => {
      const { total, completed, pending, completionPercentage } = (await run(OPERATIONS.taskStatistics, {}))
        .taskStatistics;
      const body: StatisticsBody = {
        success: true,
        message: 'Statistics of your tasks.',
        data: { total, completed, pending, completionPercentage },
      };
      return { body };
    },
  }),
  userEndpoint({
    method: 'GET',
    path: '/tasks/{id}',
    name: 'getTask',
    summary: 'Get a task',
    needs: OPERATIONS.task,
    headers: ['if-none-match'],
    status: 200,
    answerSchema: oneTask,
    errors: ['NOT_FOUND'],
    handle: async ({ id, claims, run }) => {
      const { task } = await run(OPERATIONS.task, { id: pathTaskId({ id }) });
      if (!task) throw taskNotFound();
      return taskAnswer('Task found.', task, claims.userId);
    },
  }),
  userEndpoint({
    method: 'PATCH',
    path: '/tasks/{id}',
    name: 'updateTask',
    summary: 'Update a task',
    description:
      'Absent fields stay unchanged; `null` clears `description`, `dueDate` or `category`. If `dueDate` is absent, `due_date` is ' +
      'used.',
    needs: OPERATIONS.updateTask,
    bodySchema: taskUpdate,
    headers: ['if-match'],
    status: 200,
    answerSchema: oneTask,
    exampleMessage: 'Task updated.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      const { body, claims, run } = exchange;
      const { id, ifVersion } = await taskToChange(exchange);
      const { task } = await run(OPERATIONS.updateTask, { id, input: graphFields(body), ifVersion });
      return taskAnswer('Task updated.', task, claims.userId);
    },
  }),
  userEndpoint({
    method: 'DELETE',
    path: '/tasks/{id}',
    name: 'deleteTask',
    summary: 'Delete a task',
    needs: OPERATIONS.deleteTask,
    headers: ['if-match'],
    status: 200,
    answerSchema: deleted,
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      const { id, ifVersion } = await taskToChange(exchange);
      await exchange.run(OPERATIONS.deleteTask, { id, ifVersion });
      const body: DeletedBody = { success: true, message: 'Task deleted.' };
      return { body };
    },
  }),
];

/** `userId` is the owner: the graph shows callers only their own tasks. */
function taskAnswer(message: string, node: TaskFragment, userId: string) {
  const body: OneTaskBody = { success: true, message, data: toTask(node, userId) };
  return { body, etag: etagOf(node.version) };
}

function listAnswer(edges: { node: TaskFragment }[], userId: string): { body: TaskListBody } {
  const count = edges.length;
  const message = count === 1 ? '1 task found.' : `${count} tasks found.`;
  return { body: { success: true, message, count, data: edges.map(({ node }) => toTask(node, userId)) } };
}

/** The same query for the next page. */
function nextQuery({ limit = LIST_LIMIT, offset = 0, ...others }: ListQuery): string {
  return queryText({ limit, ...others, offset: offset + limit });
}

const ORDER_FIELDS = { created_at: 'CREATED_AT', due_date: 'DUE_DATE', priority: 'PRIORITY' } as const;

function listVariables({
  completed,
  category,
  priority,
  sortBy,
  order,
  limit,
  offset,
}: ListQuery): RestTasksQueryVariables {
  return {
    filter: {
      ...(completed !== undefined && { completed: completed === 'true' }),
      ...(category !== undefined && { category }),
      ...(priority !== undefined && { priority: graphPriority(priority) }),
    },
    orderBy: { field: ORDER_FIELDS[sortBy ?? 'created_at'], direction: order === 'asc' ? 'ASC' : 'DESC' },
    first: limit ?? LIST_LIMIT,
    offset: offset ?? 0,
  };
}
