import type { Session, Statement } from '../database/index.ts';
import type { ColumnType } from '@taskmesh/contracts';
import { isValue } from './is-value.ts';

/** The schema with a loaded backup's rows: bare tables, whose columns may have any built-in type. */
export const RESTORED = 'restored';
/** The schema of the store that is made from them. */
export const STORE = 'public';

export type RestoredSchema = typeof RESTORED | typeof STORE;

export type Columns = Map<string, string>;

/** $1: schema. Sorted by oid, so that a table follows those it refers to. */
const TABLES: Statement = {
  name: 'import-tables',
  text: `
    select c.relname as name,
      coalesce(json_object_agg(a.attname, pg_catalog.format_type(a.atttypid, null)) filter (where a.attname is not null), '{}') as columns
    from pg_catalog.pg_class c
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = pg_catalog.to_regnamespace($1) and c.relkind in ('r', 'p') group by c.oid, c.relname order by c.oid`,
};

/** All tables of the schema, in the order of creation. */
export async function tablesOf(session: Session, schema: RestoredSchema): Promise<Map<string, Columns>> {
  const rows = await session.run<{ name: string; columns: Record<string, string> }>(TABLES, [schema]);
  return new Map(rows.map(({ name, columns }) => [name, new Map(Object.entries(columns))]));
}

/** All names are read, and a dump may have many more than a service needs. */
const MOST_COLUMNS = 20_000;

const SIZE: Statement = {
  name: 'import-size',
  text: `
    select pg_catalog.count(*)::text as columns
    from pg_catalog.pg_class c left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = pg_catalog.to_regnamespace('${RESTORED}') and c.relkind in ('r', 'p')`,
};

/** Check this first. A sentence; undefined when the number of columns is acceptable. */
export async function tooManyColumns(session: Session): Promise<string | undefined> {
  const [size] = await session.run<{ columns: string }>(SIZE);
  return Number(size?.columns) > MOST_COLUMNS ? `The dump has more than ${MOST_COLUMNS} columns.` : undefined;
}

/** Empty when there is no such table. */
export async function columnsOf(session: Session, table: string, schema: RestoredSchema = RESTORED): Promise<Columns> {
  return (await tablesOf(session, schema)).get(table) ?? new Map();
}

const MOST_NAMED = 50;

/** Restored tables, and columns as `table.column`, that the store lacks; other tables in `known` do not count. */
export async function lostColumns(
  session: Session,
  kept: Record<string, readonly string[]>,
  known: readonly string[],
): Promise<string[]> {
  const lost: string[] = [];
  for (const [table, columns] of await tablesOf(session, RESTORED)) {
    const own = Object.hasOwn(kept, table) ? kept[table] : undefined;
    if (!own && known.includes(table)) continue;
    if (!own) lost.push(table);
    else lost.push(...[...columns.keys()].filter((name) => !own.includes(name)).map((name) => `${table}.${name}`));
  }
  lost.sort();
  return lost.length > MOST_NAMED ? [...lost.slice(0, MOST_NAMED), `${lost.length - MOST_NAMED} more`] : lost;
}

const SAME: Record<ColumnType, string> = {
  uuid: 'uuid',
  text: 'text',
  boolean: 'boolean',
  integer: 'integer',
  'timestamptz(3)': 'timestamp with time zone',
};

/** SQL that converts a column of row `r` to the given type; null where the value is invalid. */
export function valueOf(columns: Columns, name: string, type: ColumnType): string {
  const raw = `r.${name}`;
  if (columns.get(name) === SAME[type]) return type === 'timestamptz(3)' ? `${raw}::${type}` : raw;
  if (type === 'text') return `${raw}::text`;
  return `case when ${isValue(`${raw}::text`, type)} then ${raw}::text::${type} end`;
}
