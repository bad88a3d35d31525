import type { Task } from './task.entity.ts';
import { toRfc3339 } from './task-time.ts';

/** A row of `tasks` as the driver gives it, or as PostgreSQL's `row_to_json` writes it into the change log. */
export interface TaskRow {
  id: string;
  user_id: string;
  title: string;
  description: string | null;
  completed: boolean;
  due_date: string | null;
  category: string | null;
  priority: Task['priority'];
  created_at: string;
  updated_at: string;
  version: number;
}

export const TASK_COLUMNS =
  'id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at, version';

/** The same of one table among others. */
export const taskColumnsOf = (table: string): string => TASK_COLUMNS.replaceAll(/\w+/g, `${table}.$&`);

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
