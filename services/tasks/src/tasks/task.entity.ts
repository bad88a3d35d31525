import { defineEntity, p, Type } from '@mikro-orm/core';
import type { TaskImage } from '@taskmesh/events';
import { toRfc3339 } from './task-time.ts';

/** Times are RFC 3339, UTC, with milliseconds. */
export type Task = TaskImage;

/** timestamptz(3) as text, because Date misreads years before 100. */
class TimeType extends Type<string, string> {
  override convertToJSValue(stored: string): string {
    return toRfc3339(stored);
  }
  override getColumnType(): string {
    return 'timestamptz(3)';
  }
}

export const TaskEntity = defineEntity({
  name: 'Task',
  tableName: 'tasks',
  indexes: [{ name: 'tasks_by_owner', properties: ['ownerId', 'createdAt', 'id'] }],
  properties: {
    id: p.uuid().primary(),
    ownerId: p.uuid().name('user_id'),
    title: p.text(),
    description: p.text().nullable(),
    completed: p.boolean(),
    dueDate: p.type(TimeType).nullable(),
    category: p.text().nullable(),
    priority: p.enum(['low', 'medium', 'high']),
    createdAt: p.type(TimeType),
    updatedAt: p.type(TimeType),
    version: p.integer().default(1),
  },
});

const SOME = 'where category is not null';
const keyIndex = (name: string, columns: string, where = '') => ({
  name,
  expression: `create index ${name} on task_keys (${columns}, created_at, id) ${where}`,
});

/** What lists of large owners are sorted and filtered by; see list-runs.ts. */
export const TaskKeyEntity = defineEntity({
  name: 'TaskKey',
  tableName: 'task_keys',
  indexes: [
    { name: 'task_keys_by_age', properties: ['ownerId', 'state', 'createdAt', 'id'] },
    { name: 'task_keys_by_due_date', properties: ['ownerId', 'state', 'dueDate', 'createdAt', 'id'] },
    { name: 'task_keys_by_update', properties: ['ownerId', 'state', 'updatedAt', 'createdAt', 'id'] },
    keyIndex('task_keys_of_category', 'user_id, category, state', SOME),
    keyIndex('task_keys_of_category_by_due_date', 'user_id, category, state, due_date', SOME),
    keyIndex('task_keys_of_category_by_update', 'user_id, category, state, updated_at', SOME),
  ],
  properties: {
    ownerId: p.uuid().name('user_id').primary(),
    id: p.uuid().primary(),
    state: p.smallint(),
    category: p.text().nullable(),
    dueDate: p.type(TimeType).nullable(),
    createdAt: p.type(TimeType),
    updatedAt: p.type(TimeType),
  },
});
