import type { Statement } from '@taskmesh/database';
import { CHANGE_COLUMNS } from './change.ts';

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
 * $1 before when, $2 how many. Forgets from the front of the log only, up to the first change that is young or not yet
 * published: what an owner has left is always the end of the feed, without a hole, whatever clocks did.
 */
export const FORGET_CHANGES: Statement = {
  name: 'feed-forget-changes',
  text: `
    with front as (
      select id, published_at is not null and occurred_at < $1::timestamptz as is_old from changes order by id limit $2
    ), gone as (
      delete from changes
      where id in (select id from front) and id < coalesce((select min(id) from front where not is_old), 9223372036854775807)
      returning 1
    )
    select count(*)::int as count from gone`,
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
