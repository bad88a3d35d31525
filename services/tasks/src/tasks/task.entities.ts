import { defineEntity, p } from '@mikro-orm/core';
import type { TaskImage } from '@taskmesh/contracts';

/** Times are RFC 3339, UTC, with milliseconds. */
export type Task = TaskImage;

/** A user; this service knows only the id. */
export interface TaskOwner {
  __typename: 'User';
  id: string;
}

/** Statements alone read and write tasks: the entity is for the comparison with the migrations. */
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
    dueDate: p.datetime(3).nullable(),
    category: p.text().nullable(),
    priority: p.enum(['low', 'medium', 'high']),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().default(1),
  },
});
