import type { Statement } from '@taskmesh/database';
import { TASK_COLUMNS, taskColumnsOf } from './task-row.ts';
import { LAST_MOMENT } from './task-time.ts';

/*
 * What a statement gives names its columns: a prepared one whose columns change, as by a migration that adds one to the
 * table, fails. Inside, `*` is every column that the table has by then, so that the log's images lack nothing, also
 * what only a newer release knows.
 *
 * Every write is one statement, hence one transaction and one round trip: the task's row, the owner's feed row, the log.
 * Each part takes its rows from the part before, which fixes the order of the locks: first the task, then its owner
 * (no deadlock, and a write that finds nothing counts nothing). The owner's lock is held to the commit, so that the log
 * is in commit order and without a gap. Under READ COMMITTED a part that waited for a lock goes on with the newest row.
 *
 * `$now` is the service's clock; `updated_at` grows by a millisecond at least, whatever clocks say, as far
 * as times go; what tells changes apart is `version`.
 */

const logged = (kind: string, after: string, before: string) => `
  insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at, traceparent)
  select $1, ${after}.user_id, feed.sequence, '${kind}', row_to_json(${after}), ${before}`;

const LOCKED = `select * from tasks where id = $3 and user_id = $4 for update`;

/** $5 is the version that the caller has seen, or null. */
const COUNTED = `
  insert into feeds as f (owner_id, sequence)
  select user_id, 1 from old where $5::int is null or version = $5
  on conflict (owner_id) do update set sequence = f.sequence + 1
  returning sequence`;

const newTask = (claim: string) => `
  feed as (
    insert into feeds as f (owner_id, sequence)
    select $4::uuid, 1 ${claim}
    on conflict (owner_id) do update set sequence = f.sequence + 1
    returning sequence
  ), task as (
    insert into tasks (${TASK_COLUMNS})
    select $3::uuid, $4::uuid, $6::text, $7::text, $8::boolean, $9::timestamptz, $10::text, $11::text,
           $5::timestamptz, $5::timestamptz, 1
    from feed
    returning *
  ), change as (
    ${logged('INSERT', 'task', 'null, task.created_at, $2')} from feed, task
  )`;

/** $1 part, $2 traceparent, $3 id, $4 owner, $5 now, $6 title, $7 description, $8 completed, $9 due date, $10 category, $11 priority */
export const CREATE: Statement = {
  name: 'task-create',
  text: `with ${newTask('')} select ${TASK_COLUMNS} from task`,
};

/**
 * As CREATE, with $12 key, $13 hash of the input, $14 when the key expires. Whoever still runs with the same key holds
 * its advisory lock: `running`, the first one or one that repeats it. No task and not running: the key was used before.
 */
export const CREATE_ONCE: Statement = {
  name: 'task-create-once',
  text: `
    with turn as materialized (
      select pg_try_advisory_xact_lock(hashtextextended($12::text, hashtextextended($4::uuid::text, 0))) as is_ours
    ), claim as (
      insert into idempotency_keys as k (owner_id, key, input_hash, task, expires_at)
      select $4::uuid, $12, $13, json_build_object(
          'id', $3::uuid, 'user_id', $4::uuid, 'title', $6::text, 'description', $7::text, 'completed', $8::boolean,
          'due_date', $9::timestamptz, 'category', $10::text, 'priority', $11::text,
          'created_at', $5::timestamptz, 'updated_at', $5::timestamptz, 'version', 1), $14
      from turn where is_ours
      on conflict (owner_id, key) do update
        set input_hash = excluded.input_hash, task = excluded.task, expires_at = excluded.expires_at
        where k.expires_at <= $5::timestamptz
      returning owner_id
    ), ${newTask('from claim')}
    select not turn.is_ours as running, ${taskColumnsOf('task')} from turn left join task on true`,
};

/** $1 owner, $2 key, $3 now */
export const FIRST_CREATED: Statement = {
  name: 'task-first-created',
  text: `
    select input_hash, task::text from idempotency_keys
    where owner_id = $1 and key = $2 and expires_at > $3::timestamptz`,
};

/*
 * UPDATE and DELETE name the row by its id and owner again, as `old` found it: joined by `old.id`, PostgreSQL may look for
 * it among all tasks of the owner, whom it takes for one with few.
 */

/**
 * $1 part, $2 traceparent, $3 id, $4 owner, $5 expected version, $6 now, then what is to change: $7 title, $8 completed,
 * $9 priority (null: as it is), and with a flag before each, because null clears them: description, due date, category.
 * Without any row the task is not there; a row without an id says that its version is another.
 */
export const UPDATE: Statement = {
  name: 'task-update',
  text: `
    with old as (${LOCKED}), feed as (${COUNTED}), task as (
      update tasks t set
        title = coalesce($7, t.title),
        completed = coalesce($8, t.completed),
        priority = coalesce($9, t.priority),
        description = case when $10 then $11 else t.description end,
        due_date = case when $12 then $13 else t.due_date end,
        category = case when $14 then $15 else t.category end,
        updated_at = least(greatest($6::timestamptz, old.updated_at + interval '1 millisecond'), '${LAST_MOMENT}'),
        version = old.version + 1
      from old, feed
      where t.id = $3 and t.user_id = $4
      returning t.*
    ), change as (
      ${logged('UPDATE', 'task', 'row_to_json(old), task.updated_at, $2')} from old, feed, task
    )
    select ${taskColumnsOf('task')} from old left join task on true`,
};

/** $1 part, $2 traceparent, $3 id, $4 owner, $5 expected version, $6 now. Rows as UPDATE's. */
export const DELETE: Statement = {
  name: 'task-delete',
  text: `
    with old as (${LOCKED}), feed as (${COUNTED}), gone as (
      delete from tasks t using old, feed where t.id = $3 and t.user_id = $4 returning t.id
    ), change as (
      ${logged('DELETE', 'old', 'row_to_json(old), greatest($6::timestamptz, old.updated_at), $2')} from old, feed, gone
    )
    select gone.id from old left join gone on true`,
};

/** $1 id, $2 owner */
export const FIND: Statement = {
  name: 'task-find',
  text: `select ${TASK_COLUMNS} from tasks where id = $1 and user_id = $2`,
};

/** $1 owner */
export const STATISTICS: Statement = {
  name: 'task-statistics',
  text: `
    select count(*)::int as total, (count(*) filter (where completed))::int as completed
    from tasks where user_id = $1`,
};
