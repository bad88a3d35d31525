import { createTaskInput, TASK_FIELDS, type TaskImage, type TaskRow } from '@taskmesh/contracts';

/** The latest time that the contract allows. */
export const MAX_TIME = '9999-12-31T23:59:59.999Z';

const DASH = '-'.charCodeAt(0);

/**
 * Converts a time as PostgreSQL writes it in UTC (`YYYY-MM-DD hh:mm:ss[.fff]+00`, in JSON with `T` and `+00:00`) to RFC
 * 3339 with milliseconds and `Z`. It uses plain string operations, because lists contain many times and Date is slow; Date also
 * misreads years before 100.
 */
export function toRfc3339(stored: string): string {
  const end = stored.indexOf('+', 19);
  const zone = stored.slice(end);
  // Years above 9999 move the dash; years before 1 end in BC; finer fractions than ours move the zone.
  const isOurs = end >= 19 && end <= 23 && (zone === '+00' || zone === '+00:00') && stored.charCodeAt(4) === DASH;
  if (!isOurs) throw new Error(`not a time of the years 0001 to 9999 in UTC: ${stored}`);
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}.${stored.slice(20, end).padEnd(3, '0')}Z`;
}

const NAMES = Object.values(TASK_FIELDS).map(({ column }) => column);

export const TASK_COLUMNS = NAMES.join(', ');

export const taskColumnsOf = (table: string): string => NAMES.map((name) => `${table}.${name}`).join(', ');

/** The fields of a task that callers set, in the order of the statements' parameters. */
export const INPUT_FIELDS = Object.keys(createTaskInput.shape) as (keyof typeof createTaskInput.shape)[]; // its own keys

/**
 * Converts a row of `tasks` from the driver, or from the change log as `row_to_json` wrote it. Rows written by an earlier
 * release lack newer columns, which need a `??` here.
 */
export function toTask(row: TaskRow): TaskImage {
  return {
    id: row.id,
    ownerId: row.user_id,
    title: row.title,
    description: row.description,
    completed: row.completed,
    dueDate: row.due_date === null ? null : toRfc3339(row.due_date),
    category: row.category,
    priority: row.priority,
    createdAt: toRfc3339(row.created_at),
    updatedAt: toRfc3339(row.updated_at),
    version: row.version,
  };
}
