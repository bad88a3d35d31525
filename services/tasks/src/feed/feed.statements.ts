import type { Statement } from '@taskmesh/store';
import { CHANGE_COLUMNS, selectChanges } from './change.ts';

/** Limits a page, which occupies the event loop here and at the gateway; the gateway may have several pages in memory. */
const PAGE_BYTES = 256 * 1024;

export const FIRST_OWNER = '00000000-0000-0000-0000-000000000000';
export const LAST_OWNER = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** 32 random bytes. A new key invalidates all earlier cursors. */
export const NEW_CURSOR_KEY = `decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`;

/**
 * $1: the last owner of the previous batch, $2: about how many tasks to count. Returns the last owner of this batch. Adds the
 * difference, so that writes can continue meanwhile, and locks no feed with a correct count. Must not run concurrently.
 */
export const COUNT_TASKS: Statement = {
  name: 'feed-count-tasks',
  text: `
    with last as materialized (
      select coalesce((
        select user_id from public.tasks where user_id > $1::uuid order by user_id offset $2::int limit 1
      ), '${LAST_OWNER}') as id
    ), counted as (
      insert into public.feeds as f (owner_id, sequence, tasks)
      select user_id, 0, missing from (
        select user_id, count(*) - coalesce((select tasks from public.feeds where owner_id = user_id), 0) as missing
        from public.tasks where user_id > $1::uuid and user_id <= (select id from last) group by user_id
      ) counted where missing <> 0
      on conflict (owner_id) do update set tasks = f.tasks + excluded.tasks
    )
    select id from last`,
};

/** Parameters of COUNT_TASKS for all owners at once. */
export const ALL_OWNERS_PARAMETERS = [FIRST_OWNER, 2 ** 31 - 1];

export const STATE: Statement = {
  name: 'feed-state',
  text: 'select epoch, cursor_key as "cursorKey" from feed_state',
};

/** $1: owners. Always returns a row; if there is no feed, its owner is null. */
export const HEADS: Statement = {
  name: 'feed-heads',
  text: `
    select s.epoch, f.owner_id, f.sequence::text as head
    from feed_state s left join feeds f on f.owner_id = any($1::uuid[])`,
};

const PAGE = selectChanges({
  where: 'c.owner_id = $1 and c.sequence > $2',
  order: 'c.sequence',
  limit: '$3',
  maxBytes: PAGE_BYTES,
});

/** $1: owner, $2: sequence, $3: limit. Always returns a row; if there is no change, its id is null. */
export const CHANGES_AFTER: Statement = {
  name: 'feed-changes-after',
  text: `
    select s.epoch, coalesce(f.sequence, 0)::text as head, ${CHANGE_COLUMNS}
    from feed_state s
    left join feeds f on f.owner_id = $1
    left join (${PAGE}) c on true
    order by c.sequence`,
};

/** $1: the lowest acceptable epoch */
export const NEW_EPOCH: Statement = {
  name: 'feed-new-epoch',
  text: `
    update feed_state set epoch = greatest(epoch + 1, $1::integer), cursor_key = ${NEW_CURSOR_KEY}
    returning epoch`,
};

/** The database's current time, and when the newest remaining change was published. */
export const CLOCK: Statement = {
  name: 'feed-clock',
  text: `
    select extract(epoch from now())::float8 * 1000 as "nowMs", (
      select extract(epoch from published_at)::float8 * 1000 from changes
      where published_at is not null order by id desc limit 1
    ) as "newestMs"`,
};

/**
 * $1: how long a published change is kept, $2: the last id of the previous batch, $3: batch size, $4: owners with an
 * earlier change that is kept. Uses the time of publication and the database's clock, because a change's own time may
 * be in the future. Deletes each owner's changes from the oldest up to the first that is recent or unpublished, so that
 * the remaining changes are always the end of the feed, without gaps.
 */
export const FORGET_CHANGES: Statement = {
  name: 'feed-forget-changes',
  text: `
    with batch as (
      select id, owner_id, coalesce(published_at < oldest, false) as is_old, least(occurred_at, published_at) >= oldest as is_recent
      from changes, (select now() - $1::float8 * interval '1 millisecond' as oldest) limits
      where id > $2::bigint order by id limit $3
    ), examined as (
      select *, bool_and(is_old) over (partition by owner_id order by id) as is_deletable from batch
    ), old as (
      select id from changes
      where id = any(array(select id from examined where is_deletable and owner_id not in (select unnest($4::uuid[]))))
        and published_at is not null
      order by id for update
    ), deleted as (delete from changes where id = any(array(select id from old)) returning 1)
    select coalesce(max(id), 0)::text as last, count(*)::int as examined, bool_and(is_recent) as "areRecent",
      coalesce(array_agg(distinct owner_id::text) filter (where not is_old), '{}') as kept,
      (select count(*)::int from deleted) as count
    from examined`,
};

/**
 * $1: how many changes of each owner to keep, $2: batch size. Like FORGET_CHANGES, deletes only up to the first unpublished
 * change.
 */
export const FORGET_SURPLUS: Statement = {
  name: 'feed-forget-surplus',
  text: `
    with old as (
      select id from changes where published_at is not null and id = any(array(
        select oldest.id
        from feeds f, lateral (
          select id, bool_and(published_at is not null) over (order by sequence) as is_deletable
          from (
            select id, sequence, published_at from changes c
            where c.owner_id = f.owner_id and c.sequence <= f.sequence - $1::bigint order by c.sequence limit $2
          ) c
        ) oldest
        where f.sequence > $1::bigint and is_deletable limit $2
      ))
      order by id for update
    ), deleted as (delete from changes where id = any(array(select id from old)) returning 1)
    select count(*)::int as count from deleted`,
};
