import type { Statement } from '@taskmesh/database';
import { TASK_FIELDS } from '@taskmesh/events';
import { COUNT_COLUMNS, countsOf, HAS_KEYS, keepCounting, KEEP_KEY } from './count.statements.ts';
import { GIVEN_FIELDS, TASK_COLUMNS, taskColumnsOf } from './task-row.ts';
import { LAST_MOMENT } from './task-time.ts';

/*
 * Results name their columns: a prepared statement fails when its columns change, as with a migration that adds one.
 * Inside a statement, `*` includes all current columns, so that the log's images are complete even for newer releases.
 *
 * Every write is one statement, and therefore one transaction and one round trip: the task's row, the owner's feed row,
 * the log. Each part selects from the one before it, which fixes the order of locks: first the task, then its owner (no
 * deadlocks, and a write that finds nothing counts nothing). The owner's lock is held until the commit, so the log is
 * in commit order without gaps. Under READ COMMITTED, a part that waited for a lock continues with the newest row.
 *
 * `$now` is the service's clock. `updated_at` increases by at least a millisecond, whatever the clocks say, up to
 * LAST_MOMENT; `version` is what tells changes apart.
 */

const logChange = (kind: string, after: string, before: string) => `
  insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at, traceparent)
  select $1, ${after}.user_id, feed.sequence, '${kind}', row_to_json(${after}), ${before}`;

const LOCKED = `select * from tasks where id = $3 and user_id = $4 for update`;

const OLD_STATE = { completed: 'old.completed', priority: 'old.priority' };

/** $5: the version that the caller expects, or null. A feed that is created here has not counted the task. */
const counted = (counts: string, unless?: string) => `
  insert into feeds as f (owner_id, sequence, ${COUNT_COLUMNS})
  select user_id, 1, null, ${counts} from old where $5::int is null or version = $5
  on conflict (owner_id) do update set sequence = f.sequence + 1, ${keepCounting(unless)}
  returning sequence, ${HAS_KEYS}`;

/** A new task's values by column: $3: id, $4: owner, $5: now, then GIVEN_FIELDS from parameter `first`. */
function newValues(first: number) {
  const given = GIVEN_FIELDS.map((field, index) => {
    const { column, type } = TASK_FIELDS[field];
    return [column, `$${first + index}::${type}`];
  });
  const now = '$5::timestamptz';
  return {
    id: '$3::uuid',
    user_id: '$4::uuid',
    ...(Object.fromEntries(given) as Record<GivenColumn, string>), // all of them
    created_at: now,
    updated_at: now,
    version: '1',
  };
}

type GivenColumn = (typeof TASK_FIELDS)[(typeof GIVEN_FIELDS)[number]]['column'];

/** A restore by the previous release leaves owners without a feed, whose tasks are not counted. */
const HAS_NONE = '(select id from tasks where user_id = $4::uuid order by created_at, id limit 1) is null';

const newTask = (values: ReturnType<typeof newValues>, claim = '') => `
  feed as (
    insert into feeds as f (owner_id, sequence, ${COUNT_COLUMNS})
    select $4::uuid, 1, case when ${HAS_NONE} then 1 end, ${countsOf({ added: values })} ${claim}
    on conflict (owner_id) do update set sequence = f.sequence + 1, ${keepCounting()}
    returning sequence, ${HAS_KEYS}
  ), task as (
    insert into tasks (${Object.keys(values).join(', ')})
    select ${Object.values(values).join(', ')} from feed
    returning *
  ), key as (${KEEP_KEY}), change as (
    ${logChange('INSERT', 'task', 'null, task.created_at, $2')} from feed, task
  )`;

/** $1: part, $2: traceparent, $3: id, $4: owner, $5: now, then GIVEN_FIELDS */
export const CREATE: Statement = {
  name: 'task-create',
  text: `with ${newTask(newValues(6))} select ${TASK_COLUMNS} from task`,
};

const CLAIMED = newValues(9);
const asJson = (values: Record<string, string>) =>
  `json_build_object(${Object.entries(values)
    .map(([column, value]) => `'${column}', ${value}`)
    .join(', ')})`;

/**
 * Like CREATE, with $6: key, $7: hash of the input and $8: the key's expiry before GIVEN_FIELDS. `running`: another
 * request with the same key, the first or a repetition, holds its advisory lock. Neither a task nor running: the key
 * was used before.
 */
export const CREATE_ONCE: Statement = {
  name: 'task-create-once',
  text: `
    with turn as materialized (
      select pg_try_advisory_xact_lock(hashtextextended($6::text, hashtextextended($4::uuid::text, 0))) as is_ours
    ), claim as (
      insert into idempotency_keys as k (owner_id, key, input_hash, task, expires_at)
      select $4::uuid, $6, $7, ${asJson(CLAIMED)}, $8
      from turn where is_ours
      on conflict (owner_id, key) do update
        set input_hash = excluded.input_hash, task = excluded.task, expires_at = excluded.expires_at
        where k.expires_at <= $5::timestamptz
      returning owner_id
    ), ${newTask(CLAIMED, 'from claim')}
    select not turn.is_ours as running, ${taskColumnsOf('task')} from turn left join task on true`,
};

/** $1: owner, $2: key, $3: now */
export const FIRST_CREATED: Statement = {
  name: 'task-first-created',
  text: `
    select input_hash, task::text from idempotency_keys
    where owner_id = $1 and key = $2 and expires_at > $3::timestamptz`,
};

/** $1: now, $2: limit */
export const FORGET_KEYS: Statement = {
  name: 'task-forget-keys',
  text: `
    with gone as (
      delete from idempotency_keys
      where (owner_id, key) in (select owner_id, key from idempotency_keys where expires_at <= $1::timestamptz limit $2)
        and expires_at <= $1::timestamptz
      returning 1
    )
    select count(*)::int as count from gone`,
};

/*
 * UPDATE and DELETE repeat id and owner instead of joining by `old.id`, for which PostgreSQL may scan all tasks of the
 * owner, because it expects few.
 */

/** Each of GIVEN_FIELDS has a flag, from $7, followed by its value, because null is a value as well. */
function changedFrom(row: string, field: (typeof GIVEN_FIELDS)[number]): string {
  const { column, type } = TASK_FIELDS[field];
  const flag = 7 + 2 * GIVEN_FIELDS.indexOf(field);
  return `case when $${flag}::boolean then $${flag + 1}::${type} else ${row}.${column} end`;
}

const CHANGED = GIVEN_FIELDS.map((field) => `${TASK_FIELDS[field].column} = ${changedFrom('t', field)}`);
const NEW_STATE = { completed: changedFrom('old', 'completed'), priority: changedFrom('old', 'priority') };

/**
 * $1: part, $2: traceparent, $3: id, $4: owner, $5: expected version, $6: now, then the changes as in CHANGED. No row:
 * there is no such task. A row without an id: its version differs.
 */
export const UPDATE: Statement = {
  name: 'task-update',
  text: `
    with old as (${LOCKED}), feed as (${counted(countsOf({ added: NEW_STATE, removed: OLD_STATE }))}), task as (
      update tasks t set
        ${CHANGED.join(', ')},
        updated_at = least(greatest($6::timestamptz, old.updated_at + interval '1 millisecond'), '${LAST_MOMENT}'),
        version = old.version + 1
      from old, feed
      where t.id = $3 and t.user_id = $4
      returning t.*
    ), key as (${KEEP_KEY}), change as (
      ${logChange('UPDATE', 'task', 'row_to_json(old), task.updated_at, $2')} from old, feed, task
    )
    select ${taskColumnsOf('task')} from old left join task on true`,
};

/** Keys that were made since the statement began cannot be deleted by it. */
const KEYS_ARE_NEW = 'f.keys <> coalesce((select seen.keys from feeds seen where seen.owner_id = $4), 0)';

/** $1: part, $2: traceparent, $3: id, $4: owner, $5: expected version, $6: now. Returns rows as UPDATE does. */
export const DELETE: Statement = {
  name: 'task-delete',
  text: `
    with old as (${LOCKED}), feed as (${counted(countsOf({ removed: OLD_STATE }), KEYS_ARE_NEW)}), gone as (
      delete from tasks t using old, feed where t.id = $3 and t.user_id = $4 returning t.id
    ), key as (
      delete from task_keys where user_id = $4 and id = $3 and exists (select from gone, feed where has_keys)
    ), change as (
      ${logChange('DELETE', 'old', 'row_to_json(old), greatest($6::timestamptz, old.updated_at), $2')} from old, feed, gone
    )
    select gone.id from old left join gone on true`,
};

/** $1: id, $2: owner */
export const FIND: Statement = {
  name: 'task-find',
  text: `select ${TASK_COLUMNS} from tasks where id = $1 and user_id = $2`,
};
