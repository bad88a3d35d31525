import { AppError, notFound, parseUuid, type Priority } from '@taskmesh/contracts';
import type { Exchange } from '../endpoint.ts';
import { OPERATIONS, type CreateTaskInput, type TaskFragment } from '../operations.ts';
import { versionsIn } from '../preconditions.ts';
import type { TaskBody } from '../schemas/answers.ts';

const TO_GRAPH = { low: 'LOW', medium: 'MEDIUM', high: 'HIGH' } as const;
const FROM_GRAPH = { LOW: 'low', MEDIUM: 'medium', HIGH: 'high' } as const;

export const graphPriority = (priority: Priority) => TO_GRAPH[priority];
const restPriority = (priority: TaskFragment['priority']) => FROM_GRAPH[priority];

/** A task's fields in the graph's vocabulary. */
export function graphFields<Fields extends { priority?: Priority }>(
  fields: Fields,
): Omit<Fields, 'priority'> & Pick<CreateTaskInput, 'priority'> {
  const { priority, ...others } = fields;
  return priority === undefined ? others : { ...others, priority: graphPriority(priority) };
}

const taskNotFound = () => notFound('Task not found.');

type Asked = Pick<Exchange, 'id' | 'raw' | 'run'>;

/** The task id of the path. @throws AppError NOT_FOUND when it is not a UUID */
function pathTaskId({ id }: Asked): string {
  const known = parseUuid(id);
  if (known === undefined) throw taskNotFound();
  return known;
}

/** The task of the path. @throws AppError NOT_FOUND */
export async function findTask(asked: Asked): Promise<TaskFragment> {
  const { task } = await asked.run(OPERATIONS.task, { id: pathTaskId(asked) });
  if (!task) throw taskNotFound();
  return task;
}

/**
 * The task of the path, and the version that `If-Match` requires of it; null without such a condition.
 * @throws AppError BAD_USER_INPUT for an invalid condition, whether there is such a task or not; NOT_FOUND, PRECONDITION_FAILED
 */
export async function taskToChange(asked: Asked): Promise<{ id: string; ifVersion: number | null }> {
  const versions = versionsIn(asked.raw.headers['if-match']);
  const id = pathTaskId(asked);
  if (versions === undefined) return { id, ifVersion: null };
  if (versions.length === 1) return { id, ifVersion: versions[0] };
  // HTTP allows several tags, though hardly any client sends them: read the task to see which one is current.
  const { version } = await findTask(asked);
  if (!versions.includes(version)) throw new AppError('PRECONDITION_FAILED', 'The task has another version by now.');
  return { id, ifVersion: version };
}

export function toTask(node: TaskFragment, userId: string): TaskBody {
  return {
    id: node.id,
    user_id: userId,
    title: node.title,
    description: node.description,
    completed: node.completed,
    due_date: node.dueDate,
    category: node.category,
    priority: restPriority(node.priority),
    created_at: node.createdAt,
    updated_at: node.updatedAt,
  };
}
