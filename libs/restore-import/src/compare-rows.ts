import type { Session, Statement } from '@taskmesh/database';

const BATCH = 10_000;
const START = '00000000-0000-0000-0000-000000000000';

export interface RowsComparison {
  now: number;
  after: number;
  /** That are there now, and would not be. */
  gone: number;
  /** That are not there now, and would be. */
  back: number;
}

/**
 * What would become of a table's rows, by their ids, if the database of `to` took the place of that of `from`. Only reads, in
 * batches; `onGone` hears which ones would not be there any more.
 */
export async function compareRows(
  { from, to }: { from: Pick<Session, 'run'>; to: Pick<Session, 'run'> },
  table: string,
  onGone?: (ids: string[]) => Promise<void>,
): Promise<RowsComparison> {
  let [gone, common] = [0, 0];
  for (let last = START; ;) {
    const ids = (await from.run<{ id: string }>(idsBehind(table), [last])).map(({ id }) => id);
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

export async function countRows(session: Pick<Session, 'run'>, table: string): Promise<number> {
  const [row] = await session.run<{ count: string }>({
    name: `compare-count-${table}`,
    text: `select count(*)::text as count from public.${table}`,
  });
  return Number(row?.count);
}

/** $1 behind which id */
const idsBehind = (table: string): Statement => ({
  name: `compare-ids-${table}`,
  text: `select id::text from public.${table} where id > $1::uuid order by id limit ${BATCH}`,
});

/** $1 ids */
const unknownIn = (table: string): Statement => ({
  name: `compare-unknown-${table}`,
  text: `select id::text from unnest($1::uuid[]) id where not exists (select 1 from public.${table} t where t.id = id.id)`,
});
