import { z } from 'zod';

/** The topic that carries every committed change of a task; records are keyed by the owner's id. */
export const TASK_CHANGES_TOPIC = 'taskmesh.tasks.changes';

const timestamp = z.iso.datetime();

/** A field that comes later has a default: records of the release before are without it, and are read all the same. */
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

/** A task as one change left it. Times are RFC 3339, UTC, milliseconds. */
export type TaskImage = z.infer<typeof taskImage>;

const taskChanged = z.object({
  /** Unique within the store; grows with each change of the same owner. */
  id: z.string(),
  /** The store's epoch: grows by one with each restore. */
  epoch: z.int().nonnegative(),
  ownerId: z.guid(),
  /** Counts the owner's changes without a gap: 1, 2, 3 … */
  sequence: z.int().positive(),
  kind: z.enum(['INSERT', 'UPDATE', 'DELETE']),
  /** After the change; for DELETE, as it was. */
  task: taskImage,
  /** Before the change; null for INSERT. */
  previous: taskImage.nullable(),
  occurredAt: timestamp,
  /** The position behind this change, signed by the tasks service: a client passes it as `after`. */
  cursor: z.string(),
  /** W3C trace context of the request that made the change. */
  traceparent: z.string().nullish(),
});

/** One committed change of one task, as it travels from the store's log to the gateways. */
export type TaskChanged = z.infer<typeof taskChanged>;

/** Reads a record off the wire. Unknown fields are dropped, so that a newer producer may add some; throws on anything else. */
export function parseTaskChanged(text: string): TaskChanged {
  return taskChanged.parse(JSON.parse(text));
}
