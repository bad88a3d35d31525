import { asTransient, TaskmeshError } from '../errors.ts';
import type { Post } from '../http.ts';
import type { Task } from '../list/shape.ts';
import { CREATE_TASK, DELETE_TASK, READ_TASK, UPDATE_TASK, type UpdateTaskInput } from '../operations.generated.ts';
import {
  traceparentOf,
  type CreateWrite,
  type DeleteWrite,
  type Outcome,
  type UpdateWrite,
  type Write,
} from './write.ts';

/** The server keeps idempotency keys for 24 hours; this leaves a margin for clock differences. */
const KEY_LIFETIME_MS = 23 * 3_600_000;

/**
 * Sends a write. With `wasSent`, it may already have taken effect and only the response was lost. The server then recognises a
 * create by its key, a delete has nothing left to do, and an update with `ifVersion` finds its own values. The API cannot
 * detect a repeated update without `ifVersion`: it sets the same values again, over any change in between.
 * @throws TaskmeshError
 */
export function sendWrite(request: Post, write: Write, wasSent: boolean, now: number): Promise<Outcome> {
  switch (write.kind) {
    case 'create':
      return create(request, write, wasSent, now);
    case 'update':
      return update(request, write, wasSent);
    case 'delete':
      return remove(request, write, wasSent);
  }
}

async function create(request: Post, write: CreateWrite, wasSent: boolean, now: number): Promise<Outcome> {
  const { key, input, sentAt = now } = write;
  // The device's clock may have been far ahead.
  if (wasSent && Math.abs(now - sentAt) > KEY_LIFETIME_MS)
    throw new TaskmeshError('OUTCOME_UNKNOWN', 'The task may exist.');
  try {
    const options = { traceparent: traceparentOf(write) };
    const { createTask } = await request(CREATE_TASK, { input, idempotencyKey: key }, options);
    return { id: createTask.id, task: createTask };
  } catch (error) {
    // The first attempt is still running, so its task will exist in a moment. An account's limit has no `retryAfterMs`.
    if (error instanceof TaskmeshError && error.code === 'CONFLICT' && error.retryAfterMs > 0)
      throw new TaskmeshError('SERVICE_UNAVAILABLE', error.message, { cause: error });
    throw error;
  }
}

async function update(request: Post, write: UpdateWrite, wasSent: boolean): Promise<Outcome> {
  const { taskId: id, input, ifVersion } = write;
  try {
    const options = { traceparent: traceparentOf(write) };
    const { updateTask } = await request(UPDATE_TASK, { id, input, ifVersion: ifVersion ?? null }, options);
    return { id, task: updateTask };
  } catch (error) {
    if (!wasSent || codeOf(error) !== 'PRECONDITION_FAILED') throw error;
    const { task } = await request(READ_TASK, { id }).catch((cause: unknown) => Promise.reject(asTransient(cause)));
    if (task && hasValues(task, input)) return { id, task };
    throw error;
  }
}

async function remove(request: Post, write: DeleteWrite, wasSent: boolean): Promise<Outcome> {
  const { taskId: id, ifVersion } = write;
  try {
    await request(DELETE_TASK, { id, ifVersion: ifVersion ?? null }, { traceparent: traceparentOf(write) });
  } catch (error) {
    if (!wasSent || codeOf(error) !== 'NOT_FOUND') throw error;
  }
  return { id, task: null };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof TaskmeshError ? error.code : undefined;
}

function hasValues(task: Task, { dueDate, ...input }: UpdateTaskInput): boolean {
  const has = new Map<string, unknown>(Object.entries(task));
  return (
    (dueDate === undefined || isSameTime(task.dueDate, dueDate)) &&
    Object.entries(input).every(([field, value]) => value === undefined || has.get(field) === value)
  );
}

function isSameTime(one: string | null, other: string | null): boolean {
  return one === null || other === null ? one === other : Date.parse(one) === Date.parse(other);
}
