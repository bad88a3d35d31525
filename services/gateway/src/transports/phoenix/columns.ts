import { TASK_FIELDS, type ColumnType, type TaskImage, type TaskRow } from '@taskmesh/contracts';

/** Types as clients see them: they pass values of these types through unchanged. */
const TYPES = {
  uuid: 'uuid',
  text: 'text',
  boolean: 'bool',
  integer: 'int4',
  'timestamptz(3)': 'timestamptz',
} as const satisfies Record<ColumnType, string>;

export interface Column {
  name: keyof TaskRow;
  type: (typeof TYPES)[ColumnType];
}

/** The columns of the `tasks` table, as clients see them. */
export const COLUMNS: readonly Column[] = Object.values(TASK_FIELDS).map(({ column, type }) => ({
  name: column,
  type: TYPES[type],
}));

export function toRow(task: TaskImage): TaskRow {
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

/** An error message that repeats the client's name, as the official server does, but only if it is an identifier. */
export function naming(what: string, name: unknown): string {
  return typeof name === 'string' && /^[a-z_][a-z0-9_]{0,62}$/i.test(name) ? `${what}: ${name}` : what;
}
