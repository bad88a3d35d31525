import type { Statement } from '@taskmesh/store';
import { TASK_FIELDS } from '@taskmesh/contracts';
import { INPUT_FIELDS, MAX_TIME, TASK_COLUMNS, taskColumnsOf } from './task-row.ts';

/*
 * Results name their columns, because a prepared statement fails when its columns change, for example after a migration.
 * Inside a statement, `*` includes all current columns, so that the log's images are complete even for newer releases.
 *
 * Every write is one statement, and therefore one transaction and one round trip: the task's row, the owner's feed row
 * (which also counts the owner's tasks), and the log. Each part selects from the one before it, which fixes the order of locks: first
 * the task, then its owner. So there are no deadlocks, and a write that finds no task counts nothing. The owner's lock is held until
 * the commit, so the log is in commit order without gaps. Under READ COMMITTED, a part that waited for a lock continues with the
 * newest row.
 *
 * "Now" is the time of the service's clock. `updated_at` increases by at least a millisecond, whatever the clocks say, up to
 * MAX_TIME; `version` distinguishes changes.
 */

const logChange = (kind: string, after: string, before: string) => `
  insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at, traceparent)
  select $1, ${after}.user_id, feed.sequence, '${kind}', row_to_json(${after}), ${before}`;

/** Maximum number of an owner's unpublished changes: an outage of the event log must not fill the store. */
const MAX_UNPUBLISHED = 10_000;

/**
 * For the feed `f`; $4: its owner. Each owner's changes are published in order, so checking one of them is enough. It is not a
 * condition on `published_at`, for which PostgreSQL may read the index of all unpublished changes.
 */
export const LOG_HAS_ROOM = `(
  select c.published_at is null from changes c where c.owner_id = $4::uuid and c.sequence = f.sequence - ${MAX_UNPUBLISHED - 1}
) is not true`;

const LOCKED = `select * from tasks where id = $3 and user_id = $4 for update`;

/** $5: the version that the caller expects, or null. No row: the version differs, or the log has no room. */
const nextSequence = (added: 0 | -1) => `
  insert into feeds as f (owner_id, sequence, tasks)
  select user_id, 1, ${added} from old where $5::int is null or version = $5
  on conflict (owner_id) do update set sequence = f.sequence + 1, tasks = f.tasks + excluded.tasks
    where ${LOG_HAS_ROOM}
  returning sequence`;

/** A new task's values by column: $3: id, $4: owner, $5: now, then INPUT_FIELDS from parameter `first`. */
function newValues(first: number) {
  const inputs = INPUT_FIELDS.map((field, index) => {
    const { column, type } = TASK_FIELDS[field];
    return [column, `$${first + index}::${type}`];
  });
  const now = '$5::timestamptz';
  return {
    id: '$3::uuid',
    user_id: '$4::uuid',
    ...(Object.fromEntries(inputs) as Record<InputColumn, string>), // all of them
    created_at: now,
    updated_at: now,
    version: '1',
  };
}

type InputColumn = (typeof TASK_FIELDS)[(typeof INPUT_FIELDS)[number]]['column'];

/** $6: maximum number of tasks of an owner. Writes nothing if it is reached or the log has no room. */
const newTask = (values: ReturnType<typeof newValues>, claim = '') => `
  feed as (
    insert into feeds as f (owner_id, sequence, tasks) select $4::uuid, 1, 1 ${claim}
    on conflict (owner_id) do update set sequence = f.sequence + 1, tasks = f.tasks + 1
      where f.tasks < $6::int and ${LOG_HAS_ROOM}
    returning sequence
  ), task as (
    insert into tasks (${Object.keys(values).join(', ')})
    select ${Object.values(values).join(', ')} from feed
    returning *
  ), change as (
    ${logChange('INSERT', 'task', 'null, task.created_at, $2')} from feed, task
  )`;

/** $1: part, $2: traceparent, $3: id, $4: owner, $5: now, $6: see `newTask`, then INPUT_FIELDS. No row: see CHECK_LIMIT. */
export const CREATE: Statement = {
  name: 'task-create',
  text: `with ${newTask(newValues(7))} select ${TASK_COLUMNS} from task`,
};

/** The time that expiry is compared with: a service clock that is ahead must not expire valid keys. */
const momentOf = (now: string) => `least(${now}::timestamptz, now())`;

const CLAIMED = newValues(10);
const asJson = (values: Record<string, string>) =>
  `json_build_object(${Object.entries(values)
    .map(([column, value]) => `'${column}', ${value}`)
    .join(', ')})`;

/**
 * Like CREATE, with $7: key, $8: hash of the input and $9: the key's expiry before INPUT_FIELDS. Not `is_ours`: another
 * request with the same key, the first or a retry, holds its advisory lock. The feed is locked first, so that a key is
 * claimed only if there is room for the task. `has_room` is null if there is no feed; then OPEN_FEED creates one. If there
 * is room but no task is returned, the key was used before.
 */
export const CREATE_ONCE: Statement = {
  name: 'task-create-once',
  text: `
    with turn as materialized (
      select pg_try_advisory_xact_lock(hashtextextended($7::text, hashtextextended($4::uuid::text, 0))) as is_ours
    ), room as materialized (
      select f.tasks < $6::int and ${LOG_HAS_ROOM} as has_room from turn, feeds f where is_ours and f.owner_id = $4::uuid for no key update of f
    ), claim as (
      insert into idempotency_keys as k (owner_id, key, input_hash, task, expires_at)
      select $4::uuid, $7, $8, ${asJson(CLAIMED)}, $9
      from room where has_room
      on conflict (owner_id, key) do update
        set input_hash = excluded.input_hash, task = excluded.task, expires_at = excluded.expires_at
        where k.expires_at <= ${momentOf('$5')}
      returning owner_id
    ), ${newTask(CLAIMED, 'from claim')}
    select turn.is_ours, room.has_room, ${taskColumnsOf('task')}
    from turn left join room on true left join task on true`,
};

/** $1: owner, $2: maximum number of tasks. Whether a create was rejected for this reason; otherwise the log has no room. */
export const CHECK_LIMIT: Statement = {
  name: 'task-is-full',
  text: 'select tasks >= $2::int as is_full from feeds where owner_id = $1',
};

/** $1: owner */
export const OPEN_FEED: Statement = {
  name: 'task-open-feed',
  text: 'insert into feeds (owner_id, sequence) values ($1, 0) on conflict (owner_id) do nothing',
};

/** $1: owner, $2: key, $3: now */
export const FIRST_CREATED: Statement = {
  name: 'task-first-created',
  text: `
    select input_hash, task::text from idempotency_keys
    where owner_id = $1 and key = $2 and expires_at > ${momentOf('$3')}`,
};

/**
 * Deletes keys by `ctid`: a key that is claimed again meanwhile has another one, and `condition` protects it. `is true`
 * keeps the server from using an index for the condition, and comparing each key with each `ctid`.
 */
const forgetKeys = (name: string, rows: string, condition = 'true'): Statement => ({
  name,
  text: `
    with deleted as (delete from idempotency_keys where ctid = any (array(${rows})) and (${condition}) is true returning 1)
    select count(*)::int as count from deleted`,
});

/** $1: now, $2: limit */
export const FORGET_EXPIRED_KEYS = forgetKeys(
  'task-forget-expired-keys',
  `select ctid from idempotency_keys where expires_at <= ${momentOf('$1')} limit $2`,
  `expires_at <= ${momentOf('$1')}`,
);

/** $1: time. Owners with a key that expires later. */
export const OWNERS_WITH_KEYS: Statement = {
  name: 'task-owners-with-keys',
  text: 'select distinct owner_id from idempotency_keys where expires_at > $1::timestamptz',
};

/**
 * $1: owners, few because all of their keys are read, $2: limit, $3: how many keys of each owner to keep.
 * `offset 0` keeps the sort apart: for its order, the server may read the keys of all owners, once for each.
 */
export const FORGET_SURPLUS_KEYS = forgetKeys(
  'task-forget-surplus-keys',
  `select oldest.location
   from unnest($1::uuid[]) owner(id), lateral (
     select location from (
       select ctid as location, expires_at from idempotency_keys where owner_id = owner.id offset 0
     ) k order by expires_at desc offset $3::int
   ) oldest limit $2`,
);

/*
 * UPDATE and DELETE repeat id and owner instead of joining on `old.id`: for the join, PostgreSQL may scan all of the owner's
 * tasks, because it expects few.
 */

/** From $7 on, each of INPUT_FIELDS has a flag followed by its value, because null is a value as well. */
function changedFrom(row: string, field: (typeof INPUT_FIELDS)[number]): string {
  const { column, type } = TASK_FIELDS[field];
  const flag = 7 + 2 * INPUT_FIELDS.indexOf(field);
  return `case when $${flag}::boolean then $${flag + 1}::${type} else ${row}.${column} end`;
}

const CHANGED = INPUT_FIELDS.map((field) => `${TASK_FIELDS[field].column} = ${changedFrom('t', field)}`);

/**
 * $1: part, $2: traceparent, $3: id, $4: owner, $5: expected version, $6: now, then the changes as in CHANGED. No row:
 * there is no such task. A row without an id: nothing was written, as its version was not the expected one or the log has no room.
 */
export const UPDATE: Statement = {
  name: 'task-update',
  text: `
    with old as (${LOCKED}), feed as (${nextSequence(0)}), task as (
      update tasks t set
        ${CHANGED.join(', ')},
        updated_at = least(greatest($6::timestamptz, old.updated_at + interval '1 millisecond'), '${MAX_TIME}'),
        version = old.version + 1
      from old, feed
      where t.id = $3 and t.user_id = $4
      returning t.*
    ), change as (
      ${logChange('UPDATE', 'task', 'row_to_json(old), task.updated_at, $2')} from old, feed, task
    )
    select ${taskColumnsOf('task')}, old.version as found from old left join task on true`,
};

/** $1: part, $2: traceparent, $3: id, $4: owner, $5: expected version, $6: now. Returns rows as UPDATE does. */
export const DELETE: Statement = {
  name: 'task-delete',
  text: `
    with old as (${LOCKED}), feed as (${nextSequence(-1)}), deleted as (
      delete from tasks t using old, feed where t.id = $3 and t.user_id = $4 returning t.id
    ), change as (
      ${logChange('DELETE', 'old', 'row_to_json(old), greatest($6::timestamptz, old.updated_at), $2')} from old, feed, deleted
    )
    select deleted.id, old.version as found from old left join deleted on true`,
};

/** $1: owner */
export const STATISTICS: Statement = {
  name: 'task-statistics',
  text: `
    select count(*)::int as total, (count(*) filter (where completed))::int as completed
    from tasks where user_id = $1`,
};

/** $1: id, $2: owner */
export const FIND: Statement = {
  name: 'task-find',
  text: `select ${TASK_COLUMNS} from tasks where id = $1 and user_id = $2`,
};
