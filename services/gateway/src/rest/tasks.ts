import { AppError, codePoints, notFound, parseUuid, type Priority } from '@taskmesh/contracts';
import type { z } from 'zod';
import {
  checkedQuery,
  type Endpoint,
  endpoint,
  type EndpointResponse,
  type Exchange,
  listResponse,
  queryText,
  successResponse,
} from './endpoint.ts';
import { type CreateTaskInput, OPERATIONS, type RestTasksQueryVariables, type TaskFragment } from './operations.ts';
import { etagOf, idempotencyKeyOf, versionsIn } from './preconditions.ts';
import { doneSchema } from './schemas/parts.ts';
import * as requests from './schemas/requests.ts';
import * as responses from './schemas/responses.ts';

const CATEGORY_MAX = 255;
const LIST_LIMIT = 1_000;

/** The full task contract: every response is wrapped in `success`, `message`, `data`. */
export const fullEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /tasks', {
    name: 'listTasks',
    summary: "List the caller's tasks",
    description:
      'When sorted by `due_date`, tasks without one come last in either order. `priority` sorts by importance, not by name. A ' +
      'response has at most 1,000 tasks; `Link` points to the next page.',
    needs: OPERATIONS.tasks,
    query: checkedQuery(requests.listQuery),
    responseSchema: responses.taskList,
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
    responseSchema: responses.statistics,
    handle: async ({ run }) => {
      const { taskStatistics: data } = await run(OPERATIONS.taskStatistics, {});
      return successResponse('Statistics of your tasks.', { data });
    },
  }),
  ...oneTaskEndpoints({
    kind: 'Task',
    createBody: requests.taskCreate,
    updateBody: requests.taskUpdate,
    responseSchema: responses.taskResponse,
    response: (message, task, userId) => successResponse(message, { data: toTask(task, userId) }),
    deletedSchema: doneSchema,
    deleted: (message) => successResponse(message),
  }),
];

/** The same query for the next page. */
function nextQuery({ limit = LIST_LIMIT, offset = 0, ...others }: requests.ListQuery): string {
  return queryText({ limit, ...others, offset: offset + limit });
}

function listVariables(query: requests.ListQuery): RestTasksQueryVariables {
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

/** The reduced variant: bare objects with fewer fields, over the same tasks. */
export const reducedEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /tasks', {
    name: 'listReducedTasks',
    summary: "List the caller's tasks in pages",
    description: 'A page has at most 1,000 tasks; `total` counts all that match, and `Link` points to the next page.',
    needs: OPERATIONS.tasksAndTotal,
    query: checkedQuery(requests.reducedListQuery),
    responseSchema: responses.reducedList,
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
    createBody: requests.reducedTaskCreate,
    updateBody: requests.reducedTaskUpdate,
    responseSchema: responses.reducedTask,
    response: (_message, task, userId) => ({ body: toReducedTask(task, userId) }),
    deletedSchema: responses.messageOnly,
    deleted: (message) => ({ body: { message } }),
  }),
];

type TaskFields = Partial<Omit<CreateTaskInput, 'priority'> & { priority: Priority }>;

type VersionedTask = TaskFragment & { version: number };

/** The differences between the contracts in creating, reading, changing and deleting one task. */
interface TaskContract {
  /** The suffix of its operation ids. */
  kind: 'Task' | 'ReducedTask';
  createBody: z.ZodType<TaskFields & { title: string }>;
  updateBody: z.ZodType<TaskFields>;
  responseSchema: z.ZodType<object>;
  response(message: string, task: TaskFragment, userId: string): EndpointResponse;
  deletedSchema: z.ZodType<object>;
  deleted(message: string): EndpointResponse;
}

function oneTaskEndpoints(contract: TaskContract): readonly Endpoint[] {
  const { kind, createBody, updateBody, responseSchema, deletedSchema } = contract;
  const respondWith = (message: string, task: VersionedTask, userId: string): EndpointResponse => ({
    ...contract.response(message, task, userId),
    etag: etagOf(task.version),
  });
  return [
    endpoint('user', 'POST /tasks', {
      name: `create${kind}`,
      summary: 'Create a task',
      needs: OPERATIONS.createTask,
      bodySchema: createBody,
      headers: ['idempotency-key'],
      status: 201,
      responseSchema,
      errors: ['CONFLICT', 'KEY_REUSED'],
      handle: async ({ body, raw, claims, run }) => {
        const idempotencyKey = idempotencyKeyOf(raw);
        const { task } = await run(OPERATIONS.createTask, { input: inGraph(body), idempotencyKey });
        return respondWith('Task created.', task, claims.userId);
      },
    }),
    endpoint('user', 'GET /tasks/{id}', {
      name: `get${kind}`,
      summary: 'Get a task',
      needs: OPERATIONS.task,
      headers: ['if-none-match'],
      responseSchema,
      errors: ['NOT_FOUND'],
      handle: async (exchange) => respondWith('Task found.', await findTask(exchange), exchange.claims.userId),
    }),
    endpoint('user', 'PATCH /tasks/{id}', {
      name: `update${kind}`,
      summary: 'Update a task',
      description: 'Absent fields stay unchanged; `null` clears those that a task need not have.',
      needs: OPERATIONS.updateTask,
      bodySchema: updateBody,
      headers: ['if-match'],
      responseSchema,
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle: async (exchange) => {
        const { body, claims, run } = exchange;
        const { task } = await run(OPERATIONS.updateTask, { ...(await taskToChange(exchange)), input: inGraph(body) });
        return respondWith('Task updated.', task, claims.userId);
      },
    }),
    endpoint('user', 'DELETE /tasks/{id}', {
      name: `delete${kind}`,
      summary: 'Delete a task',
      needs: OPERATIONS.deleteTask,
      headers: ['if-match'],
      responseSchema: deletedSchema,
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle: async (exchange) => {
        await exchange.run(OPERATIONS.deleteTask, await taskToChange(exchange));
        return contract.deleted('Task deleted.');
      },
    }),
  ];
}

/** The graph's enum values are REST's words in capitals. */
const enumOf = <Word extends string>(word: Word) => word.toUpperCase() as Uppercase<Word>;
const wordOf = <Value extends string>(value: Value) => value.toLowerCase() as Lowercase<Value>;

/** A task's fields in the graph's vocabulary. */
function inGraph<Fields extends TaskFields>({ priority, ...others }: Fields) {
  return priority === undefined ? others : { ...others, priority: enumOf(priority) };
}

const taskNotFound = () => notFound('Task not found.');

type Request = Pick<Exchange, 'id' | 'raw' | 'run'>;

/** The task id of the path. @throws AppError NOT_FOUND when it is not a UUID */
function pathTaskId({ id }: Request): string {
  const known = parseUuid(id);
  if (known === undefined) throw taskNotFound();
  return known;
}

/** The task of the path. @throws AppError NOT_FOUND */
async function findTask(request: Request): Promise<VersionedTask> {
  const { task } = await request.run(OPERATIONS.task, { id: pathTaskId(request) });
  if (!task) throw taskNotFound();
  return task;
}

/**
 * The task of the path, and the version that `If-Match` requires of it; null without such a condition.
 * @throws AppError BAD_USER_INPUT for an invalid condition, even if there is no such task; NOT_FOUND, PRECONDITION_FAILED
 */
async function taskToChange(request: Request): Promise<{ id: string; ifVersion: number | null }> {
  const versions = versionsIn(request.raw.headers['if-match']);
  const id = pathTaskId(request);
  if (versions === undefined) return { id, ifVersion: null };
  if (versions.length === 1) return { id, ifVersion: versions[0] };
  // HTTP allows several tags, though hardly any client sends them: read the task to see which one is current.
  const { version } = await findTask(request);
  if (!versions.includes(version)) throw new AppError('PRECONDITION_FAILED', 'The task has a different version.');
  return { id, ifVersion: version };
}

type ReducedNode = Pick<TaskFragment, 'id' | 'title' | 'description' | 'completed' | 'createdAt' | 'updatedAt'>;

/** `userId` is the owner: the graph shows callers only their own tasks. */
function toReducedTask(node: ReducedNode, userId: string): responses.ReducedTaskBody {
  return {
    id: node.id,
    user_id: userId,
    title: node.title,
    description: node.description,
    completed: node.completed,
    created_at: node.createdAt,
    updated_at: node.updatedAt,
  };
}

export function toTask(node: TaskFragment, userId: string): responses.TaskBody {
  return {
    ...toReducedTask(node, userId),
    due_date: node.dueDate,
    category: node.category,
    priority: wordOf(node.priority),
  };
}
