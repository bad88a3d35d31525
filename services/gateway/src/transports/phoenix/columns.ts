import type { TaskImage } from '@taskmesh/events';

/** The table that clients listen to, as they see it: names of the REST API, and types that leave JSON values as they are. */
export const COLUMNS = [
  { name: 'id', type: 'uuid' },
  { name: 'user_id', type: 'uuid' },
  { name: 'title', type: 'text' },
  { name: 'description', type: 'text' },
  { name: 'completed', type: 'bool' },
  { name: 'due_date', type: 'timestamptz' },
  { name: 'category', type: 'text' },
  { name: 'priority', type: 'text' },
  { name: 'created_at', type: 'timestamptz' },
  { name: 'updated_at', type: 'timestamptz' },
  { name: 'version', type: 'int4' },
] as const;

export type Column = (typeof COLUMNS)[number];
export type Row = Record<Column['name'], string | number | boolean | null>;

export function toRow(task: TaskImage): Row {
  return {
    id: task.id,
    user_id: task.ownerId,
    title: task.title,
    description: task.description,
    completed: task.completed,
    due_date: task.dueDate,
    category: task.category,
    priority: task.priority,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    version: task.version,
  };
}

export function columnNamed(name: string): Column | undefined {
  return COLUMNS.find((column) => column.name === name);
}

/** A refusal with the name that it is about. Names are told back, as the official server does; anything else that a client sent is not. */
export function naming(what: string, name: unknown): string {
  return typeof name === 'string' && /^[a-z_][a-z0-9_]{0,62}$/i.test(name) ? `${what}: ${name}` : what;
}
