import { TASK_FIELDS, type TaskRow, createTaskInput } from '@taskmesh/contracts';
import type { Task } from './task.entity.ts';
import { toRfc3339 } from './task-time.ts';

const NAMES = Object.values(TASK_FIELDS).map(({ column }) => column);

export const TASK_COLUMNS = NAMES.join(', ');

export const taskColumnsOf = (table: string): string => NAMES.map((name) => `${table}.${name}`).join(', ');

/** The fields of a task that callers give, in the order of the statements' parameters. */
export const GIVEN_FIELDS = Object.keys(createTaskInput.shape) as (keyof typeof createTaskInput.shape)[]; // its own keys

/**
 * A row of `tasks` from the driver, or from the change log as `row_to_json` wrote it. Rows written by an earlier
 * release lack newer columns, which need a `??` here.
 */
export function toTask(row: TaskRow): Task {
  return {
    id: row.id,
    ownerId: row.user_id,
    title: row.title,
    description: row.description,
    completed: row.completed,
    dueDate: row.due_date === null ? null : toRfc3339(row.due_date),
    category: row.category,
    priority: row.priority,
    createdAt: toRfc3339(row.created_at),
    updatedAt: toRfc3339(row.updated_at),
    version: row.version,
  };
}
