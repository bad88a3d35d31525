import type { Statement } from '@taskmesh/database';
import { CHANGE_COLUMNS } from './change.ts';

/** 32 bytes by chance. With another key, every cursor that was told before is worthless. */
export const NEW_CURSOR_KEY = `decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`;

export const STATE: Statement = {
  name: 'feed-state',
  text: 'select epoch, cursor_key from feed_state',
};

/** $1 owners. Always a row; without any feed its owner is null. */
export const HEADS: Statement = {
  name: 'feed-heads',
  text: `
    select s.epoch, f.owner_id, f.sequence::text as head
    from feed_state s left join feeds f on f.owner_id = any($1::uuid[])`,
};

/** $1 owner, $2 sequence, $3 limit. Always a row; without any change its id is null. */
export const CHANGES_AFTER: Statement = {
  name: 'feed-changes-after',
  text: `
    select s.epoch, coalesce(f.sequence, 0)::text as head, change.*
    from feed_state s
    left join feeds f on f.owner_id = $1
    left join lateral (
      select ${CHANGE_COLUMNS} from changes c
      where c.owner_id = $1 and c.sequence > $2 order by c.sequence limit $3
    ) change on true
    order by change.sequence::bigint`,
};

/**
 * $1 how long a published change is kept, $2 behind which id, $3 how many are looked at, $4 owners of whom an earlier one
 * is kept. By the time of their publishing and the database's clock: what an update wrote into a change may lie in any
 * future. Of each owner they go from the oldest on up to the first that is young or not yet published, so that what is
 * left is always the end of the feed, without a hole.
 */
export const FORGET_CHANGES: Statement = {
  name: 'feed-forget-changes',
  text: `
    with looked_at as (
      select id, owner_id, coalesce(published_at < now() - $1::float8 * interval '1 millisecond', false) as is_old
      from changes where id > $2::bigint order by id limit $3
    ), judged as (
      select id, owner_id, is_old, bool_and(is_old) over (partition by owner_id order by id) as goes from looked_at
    ), gone as (
      delete from changes
      where id in (select id from judged where goes and owner_id <> all($4::uuid[])) and published_at is not null
      returning 1
    )
    select coalesce(max(id), 0)::text as last, count(*)::int as "lookedAt", (count(*) filter (where is_old))::int as old,
      coalesce(array_agg(distinct owner_id::text) filter (where not is_old), '{}') as kept,
      (select count(*)::int from gone) as count
    from judged`,
};

/** $1 now, $2 how many */
export const FORGET_KEYS: Statement = {
  name: 'feed-forget-keys',
  text: `
    with gone as (
      delete from idempotency_keys
      where (owner_id, key) in (select owner_id, key from idempotency_keys where expires_at <= $1::timestamptz limit $2)
        and expires_at <= $1::timestamptz
      returning 1
    )
    select count(*)::int as count from gone`,
};
