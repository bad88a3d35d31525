import { AppError, notFound } from '@taskmesh/errors';
import { parseUuid, type Priority } from '@taskmesh/validation';
import type { UserExchange } from './endpoint.ts';
import { OPERATIONS, type TaskFields, type TaskNode } from './operations.ts';
import { versionsIn } from './request/preconditions.ts';

const TO_GRAPH = { low: 'LOW', medium: 'MEDIUM', high: 'HIGH' } as const;
const FROM_GRAPH = { LOW: 'low', MEDIUM: 'medium', HIGH: 'high' } as const;

export const graphPriority = (priority: Priority) => TO_GRAPH[priority];
export const restPriority = (priority: TaskNode['priority']) => FROM_GRAPH[priority];

/** Fields of a task in the graph's words. */
export function graphFields<Fields extends { priority?: Priority }>(
  fields: Fields,
): Omit<Fields, 'priority'> & Pick<TaskFields, 'priority'> {
  const { priority, ...others } = fields;
  return priority === undefined ? others : { ...others, priority: graphPriority(priority) };
}

export const taskNotFound = () => notFound('Task not found.');

/** The task id of the path. @throws AppError NOT_FOUND for what cannot be one */
export function pathTaskId({ id }: { id: string }): string {
  const known = parseUuid(id);
  if (known === undefined) throw taskNotFound();
  return known;
}

/**
 * The version that `If-Match` asks a change of this task to begin from; null when there is no such condition.
 * @throws AppError PRECONDITION_FAILED, NOT_FOUND
 */
export async function expectedVersion(
  { headers, run }: Pick<UserExchange<unknown, unknown>, 'headers' | 'run'>,
  id: string,
): Promise<number | null> {
  const versions = versionsIn(headers['if-match']);
  if (versions === undefined) return null;
  if (versions.length === 1) return versions[0];
  // Several tags are allowed by HTTP and used by nobody: one more look tells which of them is meant.
  const { task } = await run(OPERATIONS.task, { id });
  if (!task) throw taskNotFound();
  if (!versions.includes(task.version))
    throw new AppError('PRECONDITION_FAILED', 'The task has another version by now.');
  return task.version;
}
