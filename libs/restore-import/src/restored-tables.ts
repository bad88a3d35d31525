import type { Session, Statement } from '@taskmesh/database';

/** Where a loaded backup's rows are: bare tables, whose columns may have any of PostgreSQL's own types. */
export const RESTORED = 'restored';
/** Where the store is made. */
export const STORE = 'public';

export type RestoredSchema = typeof RESTORED | typeof STORE;

/** The names of a table's columns and their types, as PostgreSQL writes them. */
export type Columns = Map<string, string>;

/** $1 schema. A table that another one refers to is older than that one. */
const TABLES: Statement = {
  name: 'import-tables',
  text: `
    select c.relname as name,
      coalesce(json_object_agg(a.attname, pg_catalog.format_type(a.atttypid, null)) filter (where a.attname is not null), '{}') as columns
    from pg_catalog.pg_class c
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = pg_catalog.to_regnamespace($1) and c.relkind in ('r', 'p') group by c.oid, c.relname order by c.oid`,
};

/** All tables of the schema, in the order in which they were made. */
export async function tablesOf(session: Session, schema: RestoredSchema): Promise<Map<string, Columns>> {
  const rows = await session.run<{ name: string; columns: Record<string, string> }>(TABLES, [schema]);
  return new Map(rows.map(({ name, columns }) => [name, new Map(Object.entries(columns))]));
}

/** A dump may have many more than a service needs, and all of their names are read. */
const MOST_COLUMNS = 20_000;

const SIZE: Statement = {
  name: 'import-size',
  text: `
    select pg_catalog.count(*)::text as columns
    from pg_catalog.pg_class c left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = pg_catalog.to_regnamespace('${RESTORED}') and c.relkind in ('r', 'p')`,
};

/** To be asked first. As a sentence; undefined when there are as many tables and columns as anybody needs. */
export async function tooManyColumns(session: Session): Promise<string | undefined> {
  const [size] = await session.run<{ columns: string }>(SIZE);
  return Number(size?.columns) > MOST_COLUMNS ? `The dump has more than ${MOST_COLUMNS} columns.` : undefined;
}

/** Empty when there is no such table. */
export async function columnsOf(session: Session, table: string, schema: RestoredSchema = RESTORED): Promise<Columns> {
  return (await tablesOf(session, schema)).get(table) ?? new Map();
}

const MOST_NAMED = 50;

/** Restored tables, and columns as `table.column`, that have no place in the store; of `leftBehind` nothing is wanted. */
export async function lostColumns(
  session: Session,
  kept: Record<string, readonly string[]>,
  leftBehind: readonly string[],
): Promise<string[]> {
  const lost: string[] = [];
  for (const [table, columns] of await tablesOf(session, RESTORED)) {
    if (leftBehind.includes(table)) continue;
    const own = Object.hasOwn(kept, table) ? kept[table] : undefined;
    if (!own) lost.push(table);
    else lost.push(...[...columns.keys()].filter((name) => !own.includes(name)).map((name) => `${table}.${name}`));
  }
  lost.sort();
  return lost.length > MOST_NAMED ? [...lost.slice(0, MOST_NAMED), `${lost.length - MOST_NAMED} more`] : lost;
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
  return `case when pg_catalog.pg_input_is_valid(${raw}::text, '${type}') then ${raw}::text::${type} end`;
}
