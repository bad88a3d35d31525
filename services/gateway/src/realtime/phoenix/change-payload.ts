import type { TaskChanged } from '@taskmesh/events';
import { COLUMNS, toRow, type Column, type Row } from './columns.ts';

type Select = readonly Column['name'][] | undefined;

const written = new WeakMap<TaskChanged, Map<string, string>>();

/** The payload of a `postgres_changes` message, as JSON; its `data` is written once for all channels that get the same change. */
export function changePayload(change: TaskChanged, ids: number[], select: Select): string {
  // Clients hand on `ids` and `data` only: what stands beside them disturbs nobody.
  const trace = change.traceparent ? `,"traceparent":${JSON.stringify(change.traceparent)}` : '';
  return `{"ids":[${ids.join()}],"data":${changeData(change, select)}${trace}}`;
}

function changeData(change: TaskChanged, select: Select): string {
  const bySelect = written.get(change) ?? new Map<string, string>();
  written.set(change, bySelect);
  const key = select?.join() ?? '';
  const known = bySelect.get(key);
  if (known !== undefined) return known;
  const fresh = JSON.stringify(dataOf(change, select));
  bySelect.set(key, fresh);
  return fresh;
}

function dataOf({ kind, task, previous, occurredAt }: TaskChanged, select: Select) {
  return {
    schema: 'public',
    table: 'tasks',
    type: kind,
    commit_timestamp: occurredAt,
    errors: null,
    columns: select ? COLUMNS.filter(({ name }) => select.includes(name)) : COLUMNS,
    ...(kind !== 'DELETE' && { record: pick(toRow(task), select) }),
    ...(previous && { old_record: pick(toRow(previous), select) }),
  };
}

function pick(row: Row, select: Select): Partial<Row> {
  return select ? Object.fromEntries(select.map((name) => [name, row[name]])) : row;
}
