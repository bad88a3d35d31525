import type { TaskChanged } from '@taskmesh/contracts';
import { toRfc3339, toTask } from '../tasks/task-row.ts';

/** The number of the topic's partitions, and of relays that can work in parallel. */
export const PARTITIONS = 8;

/**
 * Returns the part of the change log that contains an owner's changes. It is stored with each change, so it must never
 * change for an owner. (FNV-1a, because the bits of the ids are not evenly distributed.)
 */
export function partOf(ownerId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < ownerId.length; index++) {
    hash ^= ownerId.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % PARTITIONS;
}

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

/** Columns are cast to text where drivers convert the type differently. */
export const CHANGE_COLUMNS = `c.id::text, c.owner_id, c.sequence::text, c.kind, c.task::text, c.previous::text,
  c.occurred_at::text, c.traceparent`;

interface Selection {
  where: string;
  order: string;
  limit: string;
  maxBytes: number;
}

/**
 * Selects changes until their images reach `maxBytes`, but at least one. `is_cut`: they have reached it, so more changes may
 * follow. Measures all rows within the limit.
 */
export const selectChanges = ({ where, order, limit, maxBytes }: Selection): string => `
  select c.*, c.bytes >= ${maxBytes} as is_cut
  from (
    select c.*, sum(c.size) over (order by ${order}) as bytes
    from (
      select c.*, octet_length(c.task::text) + coalesce(octet_length(c.previous::text), 0) as size
      from changes c where ${where} order by ${order} limit ${limit}
    ) c
  ) c
  where c.bytes - c.size < ${maxBytes}`;

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
