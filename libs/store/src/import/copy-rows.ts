import type { Stores } from './store-rules.ts';

const BATCH = 5_000;

export type KeyType = 'uuid' | 'text' | 'bigint';

export interface CopiedTable {
  name: string;
  /** The column that rows are ordered by. */
  key: string;
  keyType: KeyType;
  /** SQL: which of its rows. @default all */
  which?: string;
  /** SQL that inserts the rows of `batch`; it may use parameters from $2 on. */
  put: string;
}

/** The rows as one JSON text; both fields are null when there are none. */
interface Batch extends Record<string, string | null> {
  rows: string | null;
  last: string | null;
}

/** Less than any key that occurs. */
export const START: Record<KeyType, string> = {
  uuid: '00000000-0000-0000-0000-000000000000',
  text: '',
  bigint: '-9223372036854775808',
};

/**
 * Copies rows between databases with the same columns, unchanged, a batch at a time, starting after the key `after`.
 * `values` are the parameters of `put`, from $2 on.
 */
export async function copyRows(
  { from, to }: Stores,
  table: CopiedTable,
  { after = START[table.keyType], values = [] }: { after?: string; values?: unknown[] } = {},
): Promise<void> {
  const { name, key, keyType, which = 'true', put } = table;
  const read = {
    name: `import-read-${name}`,
    text: `
      select json_agg(r)::text as rows, (array_agg(r.${key}::text order by r.${key} desc))[1] as last
      from (select * from public.${name} where ${key} > $1::${keyType} and ${which} order by ${key} limit ${BATCH}) r`,
  };
  const write = {
    name: `import-write-${name}`,
    text: `with batch as (select * from json_populate_recordset(null::public.${name}, $1::json)) ${put}`,
  };
  for (let last: string | null = after; last !== null;) {
    const batches: Batch[] = await from.run<Batch>(read, [last]);
    const [batch] = batches;
    last = batch?.last ?? null;
    if (last !== null) await to.run(write, [batch?.rows, ...values]);
  }
}
