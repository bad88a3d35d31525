import type { TaskChanged } from '@taskmesh/events';
import { toTask } from '../tasks/task-row.ts';
import { toRfc3339 } from '../tasks/task-time.ts';

export interface ChangeRow {
  id: string;
  owner_id: string;
  sequence: string;
  kind: TaskChanged['kind'];
  task: string;
  previous: string | null;
  occurred_at: string;
  traceparent: string | null;
}

/** As text where drivers convert a type differently. */
export const CHANGE_COLUMNS = `c.id::text, c.owner_id, c.sequence::text, c.kind, c.task::text, c.previous::text,
  c.occurred_at::text, c.traceparent`;

/** The only form in which changes leave this service. */
export function toTaskChanged(row: ChangeRow, epoch: number, cursor: string): TaskChanged {
  return {
    id: row.id,
    epoch,
    ownerId: row.owner_id,
    sequence: Number(row.sequence),
    kind: row.kind,
    task: toTask(JSON.parse(row.task)),
    previous: row.previous === null ? null : toTask(JSON.parse(row.previous)),
    occurredAt: toRfc3339(row.occurred_at),
    cursor,
    traceparent: row.traceparent,
  };
}
