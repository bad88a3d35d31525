import type { TaskImage } from './task-changed.ts';

/** The SQL type of a field. */
export type ColumnType = 'uuid' | 'text' | 'boolean' | 'integer' | 'timestamptz(3)';

interface FieldDescription<Value> {
  /** The name in the store, over REST and on channels. */
  column: string;
  type: ColumnType;
  isNullable: null extends Value ? true : false;
}

/**
 * Every field of a task, in display order: the single list for all code that reads, writes, restores or publishes tasks.
 */
export const TASK_FIELDS = {
  id: { column: 'id', type: 'uuid', isNullable: false },
  ownerId: { column: 'user_id', type: 'uuid', isNullable: false },
  title: { column: 'title', type: 'text', isNullable: false },
  description: { column: 'description', type: 'text', isNullable: true },
  completed: { column: 'completed', type: 'boolean', isNullable: false },
  dueDate: { column: 'due_date', type: 'timestamptz(3)', isNullable: true },
  category: { column: 'category', type: 'text', isNullable: true },
  priority: { column: 'priority', type: 'text', isNullable: false },
  createdAt: { column: 'created_at', type: 'timestamptz(3)', isNullable: false },
  updatedAt: { column: 'updated_at', type: 'timestamptz(3)', isNullable: false },
  version: { column: 'version', type: 'integer', isNullable: false },
} as const satisfies { [Field in keyof TaskImage]: FieldDescription<TaskImage[Field]> };

type Fields = typeof TASK_FIELDS;

/** The fields of `Task` in the graph, where the owner is a `User` of another service. */
export const GRAPH_FIELDS = Object.keys(TASK_FIELDS).filter((name) => name !== 'ownerId');

export type TaskRow = { [Field in keyof Fields as Fields[Field]['column']]: TaskImage[Field] };
