import type { Session, Statement } from '../database/index.ts';
import type { RowsChange } from '@taskmesh/internal-api';

const BATCH = 10_000;
const START = '00000000-0000-0000-0000-000000000000';

/**
 * Compares a table's rows by id, as if the database of `to` replaced that of `from`. Read-only, in batches; `onGone` is
 * called with the ids that would be gone.
 */
export async function compareRows(
  { from, to }: { from: Pick<Session, 'run'>; to: Pick<Session, 'run'> },
  table: string,
  onGone?: (ids: string[]) => Promise<void>,
): Promise<Required<RowsChange>> {
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

/** $1: the last id of the previous batch */
const idsBehind = (table: string): Statement => ({
  name: `compare-ids-${table}`,
  text: `select id::text from public.${table} where id > $1::uuid order by id limit ${BATCH}`,
});

/** $1: ids */
const unknownIn = (table: string): Statement => ({
  name: `compare-unknown-${table}`,
  text: `select id::text from unnest($1::uuid[]) id where not exists (select 1 from public.${table} t where t.id = id.id)`,
});
