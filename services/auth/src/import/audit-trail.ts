import { copyRows, type CopiedTable } from '@taskmesh/pg-rows/mirror';
import { inTransaction, type SqlSession, type Stores } from '@taskmesh/store';

const trail: CopiedTable = {
  name: 'audit_log',
  key: 'id',
  keyType: 'bigint',
  put: 'insert into public.audit_log overriding system value select * from batch where id <= $2::bigint',
};

const LOCK_TIMEOUT = `set local lock_timeout = '500ms'`;
const LOCK = 'lock table public.audit_log in share mode';
/** For an empty trail, a value lower than any id: ids in a dump may be negative. */
const LAST_ID = `select coalesce(max(id), '-9223372036854775808')::text as last from public.audit_log`;

const ADVANCE_IDS = `select setval(pg_get_serial_sequence('public.audit_log', 'id'), max(id)) from public.audit_log having max(id) > 0`;

export async function endOfTrail(session: SqlSession): Promise<string> {
  const [row] = await session.run<{ last: string }>(LAST_ID);
  return row?.last ?? '0';
}

/**
 * The id of the last entry, with no earlier one still uncommitted. Ids are assigned before the commit, so writers are
 * briefly locked out.
 */
export function settledEnd(live: SqlSession): Promise<string> {
  return inTransaction(live, async () => {
    await live.run(LOCK_TIMEOUT);
    await live.run(LOCK);
    return endOfTrail(live);
  });
}

/** Copies missing entries up to `end`. Earlier calls must also have ended at a settled end. */
export async function copyTrail(stores: Stores, end: string): Promise<void> {
  await copyRows(stores, trail, { after: await endOfTrail(stores.to), values: [end] });
  await stores.to.run(ADVANCE_IDS);
}

/**
 * $1 now. Times may be a little ahead, as clocks differ; entries much later would never be cleared. Leaves ids for earlier
 * entries that are not committed yet.
 */
const FIRST_ENTRY = `
    select coalesce(min(id) - 1000, 1)::text as id, least(min(at), $1::timestamptz + interval '1 day')::text as at
    from public.audit_log`;

const UNLOCK_TRAIL = 'alter table public.audit_log disable trigger audit_log_only_grows';
const OLDER = 'create temporary table older (like public.audit_log) on commit drop';
/** $1 the time of the live trail's first entry */
const KEEP_OLDER = 'insert into pg_temp.older select * from public.audit_log where at < $1::timestamptz';
const EMPTY_TRAIL = 'truncate public.audit_log';
/** $1 the id below which older entries get their ids. */
const PUT_OLDER = `
    insert into public.audit_log overriding system value
    select (r.entry).* from (
      select json_populate_record(older, json_build_object('id', $1::bigint - row_number() over (order by id desc))) as entry
      from pg_temp.older
    ) r`;
const LOCK_TRAIL = 'alter table public.audit_log enable trigger audit_log_only_grows';

/**
 * Keeps the archive's entries from before the live trail begins (at most a day after `now`), with ids below those of the live
 * trail, which `copyTrail` appends later. So no entry is lost or duplicated, and a new installation gets the whole archive.
 */
export async function keepOlderTrail({ from, to }: Stores, now: Date): Promise<void> {
  const [first] = await from.run<{ id: string; at: string }>(FIRST_ENTRY, [now]);
  await to.run(UNLOCK_TRAIL);
  await to.run(OLDER);
  await to.run(KEEP_OLDER, [first?.at]);
  await to.run(EMPTY_TRAIL);
  await to.run(PUT_OLDER, [first?.id]);
  await to.run(LOCK_TRAIL);
}
