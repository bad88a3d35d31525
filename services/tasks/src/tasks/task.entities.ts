import { defineEntity, p, Type } from '@mikro-orm/core';
import type { TaskImage, TaskRow } from '@taskmesh/contracts';
import { toRfc3339 } from './task-row.ts';

/** Times are RFC 3339, UTC, with milliseconds. */
export type Task = TaskImage;

/** A user; this service knows only the id. */
export interface TaskOwner {
  __typename: 'User';
  id: string;
}

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

/** Stays empty: only the previous release, which may still run, uses it. */
export const TaskKeyEntity = defineEntity({
  name: 'TaskKey',
  tableName: 'task_keys',
  triggers: [
    {
      name: 'task_keys_stay_empty',
      timing: 'before',
      events: ['insert'],
      forEach: 'row',
      expression: `
        create trigger task_keys_stay_empty before insert on task_keys
        for each row execute function task_keys_stay_empty()`,
    },
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

/** A create with an idempotency key: repeating it returns the same task. */
export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    ownerId: p.uuid().primary(),
    key: p.text().primary(),
    /** SHA-256 of the input. */
    inputHash: p.text(),
    task: p.json<TaskRow>().columnType('json'),
    expiresAt: p.datetime(3).index('idempotency_keys_by_age'),
  },
});
