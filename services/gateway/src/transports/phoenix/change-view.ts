import type { TaskChanged, TaskRow } from '@taskmesh/contracts';
import { perChange } from '../../feed/per-change.ts';
import { COLUMNS, toRow, type Column } from './columns.ts';
import type { Filter } from './filter.ts';

type Select = readonly Column['name'][] | undefined;

/** A change as channels see it. Everything is computed once and shared by all channels. */
export interface ChangeView {
  /** Whether the row matched the filter before the change or matches it now. */
  isWithin(filter: Filter): boolean;
  /** The payload of a `postgres_changes` message, as JSON. */
  payload(ids: number[], select: Select): string;
}

export const viewOf: (change: TaskChanged) => ChangeView = perChange((change) => {
  const row = toRow(change.task);
  const previous = change.previous && toRow(change.previous);
  const answers = new Map<string, boolean>();
  const data = new Map<string, string>();
  /** Equal channels ask right after each other, and then share the frame as well. */
  let last: { key: string; payload: string } | undefined;
  // Clients pass on only `ids` and `data`, so an extra property does no harm.
  const trace = change.traceparent ? `,"traceparent":${JSON.stringify(change.traceparent)}` : '';

  const dataOf = (select: Select): string => {
    const key = select?.join() ?? '';
    const known = data.get(key);
    if (known !== undefined) return known;
    const fresh = JSON.stringify({
      schema: 'public',
      table: 'tasks',
      type: change.kind,
      commit_timestamp: change.occurredAt,
      errors: null,
      columns: select ? COLUMNS.filter(({ name }) => select.includes(name)) : COLUMNS,
      ...(change.kind !== 'DELETE' && { record: pick(row, select) }),
      ...(previous && { old_record: pick(previous, select) }),
    });
    data.set(key, fresh);
    return fresh;
  };

  return {
    isWithin({ text, test }) {
      const known = answers.get(text);
      if (known !== undefined) return known;
      const answer = test(row) || (previous !== null && test(previous));
      answers.set(text, answer);
      return answer;
    },
    payload(ids, select) {
      const key = `${ids.join()} ${select?.join() ?? ''}`;
      if (last?.key !== key) last = { key, payload: `{"ids":[${ids.join()}],"data":${dataOf(select)}${trace}}` };
      return last.payload;
    },
  };
});

function pick(row: TaskRow, select: Select): Partial<TaskRow> {
  return select ? Object.fromEntries(select.map((name) => [name, row[name]])) : row;
}
