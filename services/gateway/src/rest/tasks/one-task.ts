import { AppError, notFound, parseUuid, type Priority } from '@taskmesh/contracts';
import type { z } from 'zod';
import { type EndpointResponse, type Endpoint, endpoint, type Exchange } from '../endpoint.ts';
import { type CreateTaskInput, OPERATIONS, type TaskFragment } from '../operations.ts';
import { etagOf, idempotencyKeyOf, versionsIn } from '../preconditions.ts';
import type { ReducedTaskBody, TaskBody } from '../schemas/responses.ts';

export const LIST_LIMIT = 1_000;

type TaskFields = Partial<Omit<CreateTaskInput, 'priority'> & { priority: Priority }>;

type VersionedTask = TaskFragment & { version: number };

/** The differences between the contracts in creating, reading, changing and deleting one task. */
export interface TaskContract {
  /** The suffix of its operation ids. */
  kind: 'Task' | 'ReducedTask';
  createBody: z.ZodType<TaskFields & { title: string }>;
  updateBody: z.ZodType<TaskFields>;
  responseSchema: z.ZodType<object>;
  response(message: string, task: TaskFragment, userId: string): EndpointResponse;
  deletedSchema: z.ZodType<object>;
  deleted(message: string): EndpointResponse;
}

export function oneTaskEndpoints(contract: TaskContract): readonly Endpoint[] {
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
export const enumOf = <Word extends string>(word: Word) => word.toUpperCase() as Uppercase<Word>;
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
export function toReducedTask(node: ReducedNode, userId: string): ReducedTaskBody {
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

export function toTask(node: TaskFragment, userId: string): TaskBody {
  return {
    ...toReducedTask(node, userId),
    due_date: node.dueDate,
    category: node.category,
    priority: wordOf(node.priority),
  };
}
