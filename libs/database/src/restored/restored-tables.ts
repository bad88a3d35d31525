import type { Session } from '../session.ts';
import type { Statement } from '../statement.ts';

/** Where a loaded backup's rows are: bare tables, whose columns may have any of PostgreSQL's own types. */
export const RESTORED = 'restored';

/** The names of a table's columns and their types, as PostgreSQL writes them. */
export type Columns = Map<string, string>;

/** $1 table. Partitions and what inherits count as part of their parents. */
const COLUMNS: Statement = {
  name: 'adopt-columns',
  text: `
    select attname as name, format_type(atttypid, null) as type
    from pg_attribute a join pg_class c on c.oid = attrelid
    where c.relnamespace = to_regnamespace('${RESTORED}') and relname = $1 and attnum > 0 and not attisdropped`,
};

/** $1 the store's own tables */
const OTHERS: Statement = {
  name: 'adopt-others',
  text: `
    select relname as name from pg_class
    where relnamespace = to_regnamespace('${RESTORED}') and relkind in ('r', 'p') and relname <> all($1::text[])
    order by relname`,
};

/** Empty when there is no such table. */
export async function columnsOf(session: Session, table: string): Promise<Columns> {
  const rows = await session.run<{ name: string; type: string }>(COLUMNS, [table]);
  return new Map(rows.map(({ name, type }) => [name, type]));
}

/** Restored tables that are none of the store's. */
export async function tablesBeside(session: Session, own: string[]): Promise<string[]> {
  const rows = await session.run<{ name: string }>(OTHERS, [own]);
  return rows.map(({ name }) => name);
}

/** What a column becomes. */
export type ColumnType = 'uuid' | 'text' | 'boolean' | 'integer' | 'timestamptz(3)';

const SAME: Record<ColumnType, string> = {
  uuid: 'uuid',
  text: 'text',
  boolean: 'boolean',
  integer: 'integer',
  'timestamptz(3)': 'timestamp with time zone',
};

/** SQL for a column of the row `r` as the wanted type; null where that cannot be made of it. */
export function valueOf(columns: Columns, name: string, type: ColumnType): string {
  const raw = `r.${name}`;
  if (columns.get(name) === SAME[type]) return type === 'timestamptz(3)' ? `${raw}::${type}` : raw;
  if (type === 'text') return `${raw}::text`;
  return `case when pg_input_is_valid(${raw}::text, '${type}') then ${raw}::text::${type} end`;
}
