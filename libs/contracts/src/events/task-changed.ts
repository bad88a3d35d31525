import { z } from 'zod';

/** Carries every committed change of a task, keyed by the owner's id. */
export const TASK_CHANGES_TOPIC = 'taskmesh.tasks.changes';

const timestamp = z.iso.datetime();

/** Fields added later need a default, because records of the previous release lack them. */
const taskImage = z.object({
  id: z.guid(),
  ownerId: z.guid(),
  title: z.string(),
  description: z.string().nullable(),
  completed: z.boolean(),
  dueDate: timestamp.nullable(),
  category: z.string().nullable(),
  priority: z.enum(['low', 'medium', 'high']),
  createdAt: timestamp,
  updatedAt: timestamp,
  version: z.int().positive(),
});

/** A task after one change. Times are RFC 3339, UTC, with milliseconds. */
export type TaskImage = z.infer<typeof taskImage>;

const taskChanged = z.object({
  /** Unique within the store; increases with each change of the same owner. */
  id: z.string(),
  /** The store's epoch, which each restore increments. */
  epoch: z.int().nonnegative(),
  ownerId: z.guid(),
  /** Numbers the owner's changes without gaps, from 1. */
  sequence: z.int().positive(),
  kind: z.enum(['INSERT', 'UPDATE', 'DELETE']),
  /** After the change; for DELETE, before it. */
  task: taskImage,
  /** Before the change; null for INSERT. */
  previous: taskImage.nullable(),
  occurredAt: timestamp,
  /** The position after this change, signed by the tasks service: clients pass it as `after`. */
  cursor: z.string(),
  /** W3C trace context of the request that made the change. */
  traceparent: z.string().nullish(),
});

export type TaskChanged = z.infer<typeof taskChanged>;

/** Parses a record. Drops unknown fields, so that a newer producer may add some; throws on anything else. */
export function parseTaskChanged(text: string): TaskChanged {
  return taskChanged.parse(JSON.parse(text));
}
