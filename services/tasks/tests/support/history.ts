import type { TaskChanged, TaskImage, TaskRow } from '@taskmesh/contracts';
import type { TestDatabase } from '@taskmesh/testing';
import { toTask } from '../../src/tasks/task-row.ts';

/**
 * Follows a stream of records like a gateway: accepts `last + 1` of each owner and drops duplicates. Throws for a record
 * that comes too early, which is a gap.
 */
export function followed(records: TaskChanged[]): Map<string, TaskChanged[]> {
  const byOwner = new Map<string, TaskChanged[]>();
  for (const record of records) {
    const seen = byOwner.get(record.ownerId) ?? [];
    byOwner.set(record.ownerId, seen);
    if (record.sequence <= seen.length) continue;
    if (record.sequence !== seen.length + 1)
      throw new Error(`${record.ownerId}: ${record.sequence} came after ${seen.length}`);
    seen.push(record);
  }
  return byOwner;
}

/** Returns an owner's tasks after these changes. Throws if a change does not follow from the ones before. */
export function replayed(changes: TaskChanged[]): TaskImage[] {
  const tasks = new Map<string, TaskImage>();
  for (const { kind, task, previous, sequence } of changes) {
    const before = tasks.get(task.id) ?? null;
    if (JSON.stringify(before) !== JSON.stringify(previous))
      throw new Error(`change ${sequence} does not follow from what was before`);
    if (kind === 'DELETE') tasks.delete(task.id);
    else tasks.set(task.id, task);
    if (kind === 'UPDATE' && task.version !== (before?.version ?? 0) + 1)
      throw new Error(`change ${sequence} skips a version`);
  }
  return [...tasks.values()].toSorted(byId);
}

const utc = (column: string) => `(${column} at time zone 'UTC')::text || '+00' as ${column}`;
const ROWS = `select id, user_id, title, description, completed, ${utc('due_date')}, category, priority,
  ${utc('created_at')}, ${utc('updated_at')}, version from tasks where user_id = $1`;

/** Reads the owner's rows directly from the database. */
export async function storedTasks(database: TestDatabase, ownerId: string): Promise<TaskImage[]> {
  const rows = await database.query(ROWS, [ownerId]);
  return rows.map((row) => toTask(row as unknown as TaskRow)).toSorted(byId); // the columns of a TaskRow, each by name
}

function byId(one: TaskImage, other: TaskImage): number {
  return one.id < other.id ? -1 : 1;
}
