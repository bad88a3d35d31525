import { codePoints } from '@taskmesh/contracts';
import { checkedQuery, done, type Endpoint, endpoint, queryText } from '../endpoint.ts';
import { OPERATIONS, type RestTasksQueryVariables, type TaskFragment } from '../operations.ts';
import { etagOf, idempotencyKeyOf } from '../preconditions.ts';
import { listQuery, taskCreate, taskUpdate, type ListQuery } from '../schemas/requests.ts';
import { deleted, oneTask, statistics, taskList } from '../schemas/answers.ts';
import { findTask, graphFields, graphPriority, taskToChange, toTask } from './task-input.ts';

const LIST_LIMIT = 1_000;
const CATEGORY_MAX = 255;

/** The full task contract: every answer is wrapped in `success`, `message`, `data`. */
export const fullEndpoints: readonly Endpoint[] = [
  endpoint('user', 'POST /tasks', {
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
  endpoint('user', 'GET /tasks', {
    name: 'listTasks',
    summary: "List the caller's tasks",
    description:
      'When sorted by `due_date`, tasks without one come last in either order. `priority` sorts by importance, not by name. A ' +
      'response has at most 1,000 tasks; `Link` points to the next page.',
    needs: OPERATIONS.tasks,
    query: checkedQuery(listQuery),
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
  endpoint('user', 'GET /tasks/stats', {
    name: 'taskStatistics',
    summary: "Statistics of the caller's tasks",
    needs: OPERATIONS.taskStatistics,
    answerSchema: statistics,
    handle: async ({ run }) => {
      const { taskStatistics: data } = await run(OPERATIONS.taskStatistics, {});
      return done('Statistics of your tasks.', { data });
    },
  }),
  endpoint('user', 'GET /tasks/{id}', {
    name: 'getTask',
    summary: 'Get a task',
    needs: OPERATIONS.task,
    headers: ['if-none-match'],
    answerSchema: oneTask,
    errors: ['NOT_FOUND'],
    handle: async (exchange) => taskAnswer('Task found.', await findTask(exchange), exchange.claims.userId),
  }),
  endpoint('user', 'PATCH /tasks/{id}', {
    name: 'updateTask',
    summary: 'Update a task',
    description:
      'Absent fields stay unchanged; `null` clears `description`, `dueDate` or `category`. If `dueDate` is absent, `due_date` is ' +
      'used.',
    needs: OPERATIONS.updateTask,
    bodySchema: taskUpdate,
    headers: ['if-match'],
    answerSchema: oneTask,
    exampleMessage: 'Task updated.',
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      const { body, claims, run } = exchange;
      const { task } = await run(OPERATIONS.updateTask, {
        ...(await taskToChange(exchange)),
        input: graphFields(body),
      });
      return taskAnswer('Task updated.', task, claims.userId);
    },
  }),
  endpoint('user', 'DELETE /tasks/{id}', {
    name: 'deleteTask',
    summary: 'Delete a task',
    needs: OPERATIONS.deleteTask,
    headers: ['if-match'],
    answerSchema: deleted,
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: async (exchange) => {
      await exchange.run(OPERATIONS.deleteTask, await taskToChange(exchange));
      return done('Task deleted.');
    },
  }),
];

/** `userId` is the owner: the graph shows callers only their own tasks. */
function taskAnswer(message: string, node: TaskFragment, userId: string) {
  return { ...done(message, { data: toTask(node, userId) }), etag: etagOf(node.version) };
}

function listAnswer(edges: { node: TaskFragment }[], userId: string) {
  const count = edges.length;
  const data = edges.map(({ node }) => toTask(node, userId));
  return done(count === 1 ? '1 task found.' : `${count} tasks found.`, { count, data });
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
