import type { RowsChange } from '@taskmesh/internal-api';
import type { SqlSession } from '../database/session.ts';
import type { Stores } from './restored-tables.ts';

const BATCH = 5_000;

export type KeyType = 'uuid' | 'text' | 'bigint';

export interface ReadTable {
  name: string;
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

/** Reads a table's rows in batches, each as one JSON text, starting after the key `after`. */
export async function eachBatch(
  session: SqlSession,
  { name, key, keyType, columns = '*', which = 'true' }: ReadTable,
  work: (rows: string) => Promise<unknown>,
  after: string = START[keyType],
): Promise<void> {
  const read = `
      select json_agg(r)::text as rows, (array_agg(r.${key}::text order by r.${key} desc))[1] as last
      from (select ${columns} from public.${name} where ${key} > $1::${keyType} and ${which} order by ${key} limit ${BATCH}) r`;
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
  { from, to }: Stores,
  table: CopiedTable,
  { after, values = [] }: { after?: string; values?: unknown[] } = {},
): Promise<void> {
  const { name, put } = table;
  const write = `with batch as (select * from json_populate_recordset(null::public.${name}, $1::json)) ${put}`;
  await eachBatch(from, table, (rows) => to.run(write, [rows, ...values]), after);
}

const COMPARED_AT_ONCE = 10_000;

/**
 * Compares a table's rows by id, as if the database of `to` replaced that of `from`. Read-only, in batches. Calls `onGone`
 * with the ids that would disappear.
 */
export async function compareRows(
  { from, to }: { from: Pick<SqlSession, 'run'>; to: Pick<SqlSession, 'run'> },
  table: string,
  onGone?: (ids: string[]) => Promise<void>,
): Promise<Required<RowsChange>> {
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

export async function countRows(session: Pick<SqlSession, 'run'>, table: string): Promise<number> {
  const [row] = await session.run<{ count: string }>(`select count(*)::text as count from public.${table}`);
  return Number(row?.count);
}

/** $1: the last id of the previous batch */
const idsAfter = (table: string): string =>
  `select id::text from public.${table} where id > $1::uuid order by id limit ${COMPARED_AT_ONCE}`;

/** $1: ids */
const unknownIn = (table: string): string =>
  `select id::text from unnest($1::uuid[]) id where not exists (select 1 from public.${table} t where t.id = id.id)`;
