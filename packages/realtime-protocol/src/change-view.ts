import type { Filter } from './filter.ts';
import type { Change, Row, Table } from './table.ts';

type Select = readonly string[] | undefined;

/** A change as delivered to channels. Results are computed once and shared by all channels. */
export type ChangeView = ReturnType<typeof createView>;

export type ViewOf = (change: Change) => ChangeView;

/** A change is delivered to many channels in a row, so its view is kept until the next change arrives. */
export function createViews(table: Table): ViewOf {
  let last: { change: Change; view: ChangeView } | undefined;
  return (change) => {
    if (last?.change !== change) last = { change, view: createView(change, table) };
    return last.view;
  };
}

function createView(change: Change, { schema = 'public', name, columns }: Table) {
  const { kind, record, oldRecord, occurredAt, traceparent } = change;
  const matches = new Map<string, boolean>();
  const data = new Map<string, Buffer>();
  // Clients use only `ids` and `data`, so an extra property does no harm.
  const trace = traceparent ? `,"traceparent":${JSON.stringify(traceparent)}` : '';

  const dataOf = (select: Select): Buffer => {
    const key = select?.join() ?? '';
    const known = data.get(key);
    if (known !== undefined) return known;
    const json = JSON.stringify({
      schema,
      table: name,
      type: kind,
      commit_timestamp: occurredAt,
      errors: null,
      columns: select ? columns.filter((column) => select.includes(column.name)) : columns,
      ...(kind !== 'DELETE' && { record: pick(record, select) }),
      ...(oldRecord && { old_record: pick(oldRecord, select) }),
    });
    const fresh = Buffer.from(json + trace);
    data.set(key, fresh);
    return fresh;
  };

  return {
    /** Whether the row matched the filter before the change or matches it now. */
    isWithin({ text, test }: Filter) {
      const known = matches.get(text);
      if (known !== undefined) return known;
      const isMatch = test(record) || (oldRecord !== null && test(oldRecord));
      matches.set(text, isMatch);
      return isMatch;
    },
    /** What follows `"data":` in the payload of a `postgres_changes` message, without the last brace. */
    dataOf,
  };
}

function pick(row: Row, select: Select): Partial<Row> {
  return select ? Object.fromEntries(select.map((name) => [name, row[name]])) : row;
}
