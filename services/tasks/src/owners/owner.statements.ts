import { STORE_TABLES } from '@taskmesh/internal-api';
import type { Statement } from '@taskmesh/store';
import { LOG_HAS_ROOM } from '../tasks/task.statements.ts';

/** The tables whose rows belong to owners, each with the column that contains the owner's id. */
export const OWNED = Object.entries(STORE_TABLES.tasks).flatMap(([name, { owner }]) =>
  owner ? [{ table: `public.${name}`, owner }] : [],
);

/*
 * An owner is deleted in steps of one statement each: close, delete tasks, erase changes, erase others, finish. Any instance may
 * repeat any step, because the remaining rows determine what is left to do.
 */

export const POSITION: Statement = {
  name: 'owners-position',
  text: 'select epoch, sequence::text from account_position',
};

/** Only one instance counts at a time. */
export const LOCK_POSITION: Statement = {
  name: 'owners-lock-position',
  text: 'select from account_position for update',
};

/**
 * $1, $2: the expected position (epoch, sequence), $3, $4: the position after this entry, $5: owner, $6: the time of the
 * deletion. No row: another instance was faster. Waits for the owner's running writes, which have locked the feed's row;
 * later writes fail. When the log is read again, owners who are closed already are not erased again.
 */
export const CLOSE: Statement = {
  name: 'owners-close',
  text: `
    with position as (
      update account_position set epoch = $3::integer, sequence = $4::bigint
      where epoch = $1::integer and sequence = $2::bigint
      returning 1
    ), feed as (
      insert into feeds as f (owner_id, sequence, ends_at)
      select $5::uuid, 0, 0 from position
      on conflict (owner_id) do update set ends_at = f.sequence
      returning owner_id
    ), closed as (
      insert into closed_owners (owner_id, deleted_at)
      select owner_id, $6::timestamptz from feed
      where not exists (select from feeds where owner_id = $5::uuid and ends_at is not null)
      on conflict (owner_id) do nothing
    )
    select owner_id from feed`,
};

export const IS_CLOSED: Statement = {
  name: 'owners-is-closed',
  text: 'select from feeds where owner_id = $1 and ends_at is not null',
};

/** $1, $2: the expected position, $3: the epoch of a log that has no entries. */
export const MOVE: Statement = {
  name: 'owners-move',
  text: `
    update account_position set epoch = $3::integer, sequence = 0
    where epoch = $1::integer and sequence = $2::bigint`,
};

/** $1: the last id of the previous page, $2: limit */
export const CLOSED: Statement = {
  name: 'owners-closed',
  text: 'select owner_id from closed_owners where owner_id > $1::uuid order by owner_id limit $2',
};

/**
 * $1: part, $2: limit, $3: now, $4: owner. Deletes tasks of a closed owner in order of creation, with a change for each, like single
 * deletes; none while the log has no room. It also locks tasks before the feed, so that it cannot deadlock with them. The changes are
 * inserted in order, because the relay follows their ids; otherwise the join of the plan would determine these.
 */
export const DELETE_TASKS: Statement = {
  name: 'owners-delete-tasks',
  text: `
    with old as (
      select * from tasks
      where user_id = $4 and exists (select 1 from closed_owners where owner_id = $4)
      order by created_at, id limit $2 for update
    ), counted as (
      select id, updated_at, row_to_json(old) as image, row_number() over (order by created_at, id) as number from old
    ), feed as (
      update feeds f set sequence = f.sequence + total.count, ends_at = f.sequence + total.count,
        tasks = f.tasks - total.count
      from (select count(*) as count from old) total
      where f.owner_id = $4 and f.ends_at is not null and total.count > 0 and ${LOG_HAS_ROOM}
      returning f.sequence - total.count as before
    ), deleted as (
      delete from tasks t using feed where t.id = any(array(select id from old)) returning t.id
    ), change as (
      insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
      select $1, $4, feed.before + counted.number, 'DELETE', image, image, greatest($3::timestamptz, updated_at)
      from feed, counted join deleted using (id)
      order by counted.number
    )
    select count(*)::int as count from deleted`,
};

/**
 * $1: owner, $2: limit. Changes contain the tasks. Once all are published, they are not needed, as this feed cannot be read any more.
 * They are published in order, so this asks for the newest, for the reason given at LOG_HAS_ROOM; an earlier one may be replayed.
 */
export const ERASE_CHANGES: Statement = {
  name: 'owners-erase-changes',
  text: `
    with old as (
      select id from changes
      where owner_id = $1 and published_at is not null
        and exists (select 1 from closed_owners where owner_id = $1)
        and not exists (select 1 from tasks where user_id = $1)
        and (select published_at is not null from changes where owner_id = $1 order by sequence desc limit 1)
      order by sequence limit $2 for update
    ), deleted as (
      delete from changes where id = any(array(select id from old)) returning 1
    )
    select count(*)::int as count from deleted`,
};

/** All tables except tasks and changes, which have separate steps. */
const OTHERS = OWNED.filter(({ table }) => !['public.tasks', 'public.changes'].includes(table));
const noneOf = (tables: typeof OWNED) =>
  tables.map(({ table, owner }) => `not exists (select 1 from ${table} where ${owner} = $1)`).join(' and ');

/** $1: owner, $2: limit per table. Returns the largest number of rows deleted from a single table. */
export const ERASE_OTHERS: Statement = {
  name: 'owners-erase-others',
  text: `
    with ended as materialized (
      select from closed_owners where owner_id = $1 and ${noneOf(OWNED.filter((each) => !OTHERS.includes(each)))}
    ), ${OTHERS.map(
      ({ table, owner }, index) => `deleted_${index} as (
      delete from ${table} where ctid = any(array(select ctid from ${table}, ended where ${owner} = $1 limit $2)) returning 1
    )`,
    ).join(', ')}
    select greatest(${OTHERS.map((_, index) => `(select count(*) from deleted_${index})`).join(', ')})::int as count`,
};

/** $1: owner. Returns a row when nothing is left. */
export const FINISH: Statement = {
  name: 'owners-finish',
  text: `delete from closed_owners where owner_id = $1 and ${noneOf(OWNED)} returning owner_id`,
};

export const BACKLOG: Statement = {
  name: 'owners-backlog',
  text: `
    select count(*)::int as pending,
      coalesce(greatest(extract(epoch from now() - min(deleted_at)), 0), 0)::float8 as oldest_age_s
    from closed_owners`,
};
