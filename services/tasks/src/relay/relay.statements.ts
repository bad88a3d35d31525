import { MAX_STATEMENT_MS, type Statement } from '@taskmesh/store';
import { CHANGE_COLUMNS, selectChanges } from '../feed/change.ts';

/** The first key of the advisory locks; the second is the part. */
export const LOCK_CLASS = 7_203_001;

/** For notifications of new changes. */
export const CHANNEL = 'taskmesh_task_changes';

/** For notifications of old changes to publish again. */
export const REPLAYS_CHANNEL = 'taskmesh_task_replays';

/** Maximum number of a blocked owner's changes per attempt: few, because most attempts fail with the first. */
export const MAX_BLOCKED_CHANGES = 10;

/** Limits for each part and each blocked owner: a whole round must be read and prepared before the session's fence. */
const PART_BYTES = 512 * 1024;
const OWNER_BYTES = 128 * 1024;

const READ_COLUMNS = `s.epoch, c.part, ${CHANGE_COLUMNS}, c.is_cut`;

/** $1: parts, $2: the last id of each that need not be read, $3: limit for each, $4: owners to skip. Oldest first in each part. */
export const READ: Statement = {
  name: 'relay-read',
  query_timeout: MAX_STATEMENT_MS, // from an old id, it scans all entries that an old snapshot keeps
  text: `
    select ${READ_COLUMNS}
    from feed_state s, unnest($1::int[], $2::bigint[]) mine(part, low), lateral (${selectChanges({
      where: `c.part = mine.part and c.id > mine.low and c.published_at is null
        and c.owner_id not in (select unnest($4::uuid[]))`,
      order: 'c.part, c.id',
      limit: '$3',
      maxBytes: PART_BYTES,
    })}) c`,
};

/** $1: ids */
export const MARK: Statement = {
  name: 'relay-mark',
  text: 'update changes set published_at = now() where id = any($1::bigint[])',
};

/** $1: owners, $2: the first sequence of each. In order for each owner. `coalesce`: for the reason given at LOG_HAS_ROOM. */
export const READ_BLOCKED: Statement = {
  name: 'relay-read-blocked',
  text: `
    select ${READ_COLUMNS}
    from feed_state s, unnest($1::uuid[], $2::bigint[]) blocked(owner_id, sequence), lateral (${selectChanges({
      where: `c.owner_id = blocked.owner_id and c.sequence >= blocked.sequence
        and coalesce(c.published_at, 'infinity') = 'infinity'`,
      order: 'c.owner_id, c.sequence',
      limit: String(MAX_BLOCKED_CHANGES),
      maxBytes: OWNER_BYTES,
    })}) c`,
};

/** See `createLowWater`. A writer holds this lock from before its first row until the row is visible to all. */
export const WRITERS: Statement = {
  name: 'relay-writers',
  text: `
    select (case when is_called then last_value else 0 end)::text as last, array(
      select virtualtransaction from pg_locks
      where locktype = 'relation' and mode = 'RowExclusiveLock' and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())
        and relation = 'changes'::regclass
    ) as writers
    from changes_id_seq`,
};

export const WAKE_OTHERS: Statement = {
  name: 'relay-wake-others',
  text: `select pg_notify('${CHANNEL}', '')`,
};

export const BACKLOG: Statement = {
  name: 'relay-backlog',
  text: `
    select count(*)::int as pending,
      coalesce(greatest(extract(epoch from now() - min(occurred_at)), 0), 0)::float8 as oldest_age_s
    from changes where published_at is null`,
};
