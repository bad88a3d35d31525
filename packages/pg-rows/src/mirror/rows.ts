const BATCH_SIZE = 5_000;

/**
 * One connection. `run` executes a statement with its parameters and resolves with the rows, as `query` of node-postgres does.
 * All statements here are written for a session with `search_path = pg_catalog, pg_temp`, so that no object of a database can
 * take the place of a function or an operator.
 */
export interface Session {
  run<Row extends Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>;
}

/** Two databases, on servers of the same version from PostgreSQL 14 on. */
export interface Databases {
  from: Session;
  to: Session;
}

/** Names are part of the SQL as they are: lower-case identifiers. */
export interface Table {
  name: string;
  /** @default 'public' */
  schema?: string;
}

/** `bigint` includes the smaller integers. The nil uuid, the empty text and the least bigint are not valid keys. */
export type KeyType = 'uuid' | 'text' | 'bigint';

export interface ReadTable extends Table {
  /** The column that rows are ordered by. */
  key: string;
  keyType: KeyType;
  /** The columns to read, as SQL. @default all */
  columns?: string;
  /** An SQL condition for the rows to read. @default all */
  which?: string;
}

export interface CopiedTable extends ReadTable {
  /** SQL that inserts the rows of `batch`. It may use parameters from $2 on. */
  put: string;
}

/** How many rows there are in `from`, and in `to`; how many would disappear, and how many would appear. */
export interface RowsDifference {
  now: number;
  after: number;
  gone: number;
  back: number;
}

/** The rows as one JSON text, and the last key; both are null if there are no rows. */
interface Batch extends Record<string, string | null> {
  rows: string | null;
  last: string | null;
}

/** Keys that are less than any existing key. */
export const START: Record<KeyType, string> = {
  uuid: '00000000-0000-0000-0000-000000000000',
  text: '',
  bigint: '-9223372036854775808',
};

export const qualified = ({ schema = 'public', name }: Table): string => `${schema}.${name}`;

/**
 * Reads a table's rows in batches, starting after the key `after`. A batch is 5,000 rows in one JSON text, which a string must hold:
 * rows must average below 100 KB.
 */
export async function eachBatch(
  session: Session,
  table: ReadTable,
  work: (rows: string) => Promise<unknown>,
  after: string = START[table.keyType],
): Promise<void> {
  const { key, keyType, columns = '*', which = 'true' } = table;
  const read = `
      select json_agg(r)::text as rows, (array_agg(r.${key}::text order by r.${key} desc))[1] as last
      from (select ${columns} from ${qualified(table)} where ${key} > $1::${keyType} and ${which} order by ${key} limit ${BATCH_SIZE}) r`;
  for (let last: string | null = after; last !== null;) {
    const batches: Batch[] = await session.run<Batch>(read, [last]);
    const [batch] = batches;
    last = batch?.last ?? null;
    if (batch?.rows) await work(batch.rows);
  }
}

/**
 * Copies rows unchanged between databases with the same columns, in batches, starting after the key `after`. `values` are
 * the parameters of `put`, from $2 on.
 */
export async function copyRows(
  { from, to }: Databases,
  table: CopiedTable,
  { after, values = [] }: { after?: string; values?: unknown[] } = {},
): Promise<void> {
  const { put } = table;
  const write = `with batch as (select * from json_populate_recordset(null::${qualified(table)}, $1::json)) ${put}`;
  await eachBatch(from, table, (rows) => to.run(write, [rows, ...values]), after);
}

const COMPARE_BATCH_SIZE = 10_000;

/**
 * Compares a table's rows by the column `id`, a uuid, as if the database of `to` replaced that of `from`. Read-only, in
 * batches. Calls `onGone` with the ids that would disappear.
 */
export async function compareRows(
  { from, to }: Databases,
  table: Table,
  onGone?: (ids: string[]) => Promise<void>,
): Promise<RowsDifference> {
  let [gone, common] = [0, 0];
  for (let last = START.uuid; ;) {
    const ids = (await from.run<{ id: string }>(idsAfter(table), [last])).map(({ id }) => id);
    if (ids.length === 0) break;
    last = ids.at(-1) ?? last;
    const unknown = (await to.run<{ id: string }>(unknownIn(table), [ids])).map(({ id }) => id);
    gone += unknown.length;
    common += ids.length - unknown.length;
    if (unknown.length > 0) await onGone?.(unknown);
  }
  const after = await countRows(to, table);
  return { now: gone + common, after, gone, back: after - common };
}

export async function countRows(session: Session, table: Table): Promise<number> {
  const [row] = await session.run<{ count: string }>(`select count(*)::text as count from ${qualified(table)}`);
  return Number(row?.count);
}

/** $1: the last id of the previous batch */
const idsAfter = (table: Table): string =>
  `select id::text from ${qualified(table)} where id > $1::uuid order by id limit ${COMPARE_BATCH_SIZE}`;

/** $1: ids */
const unknownIn = (table: Table): string =>
  `select id::text from unnest($1::uuid[]) id where not exists (select 1 from ${qualified(table)} t where t.id = id.id)`;
