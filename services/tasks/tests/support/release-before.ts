import type { TestDatabase } from '@taskmesh/testing';
import { partOf } from '../../src/feed/change.ts';

/*
 * The statements with which the previous release changes feeds and keys. They mix with our own writes during a rolling
 * update, or run again after a rollback. They never change.
 */

const STATES = ['pending', 'completed'].flatMap((done) =>
  ['low', 'medium', 'high'].map((priority) => ({ done, priority, column: `${done}_${priority}` })),
);
const COLUMNS = STATES.map(({ column }) => column).join(', ');

const isIn = (row: string) =>
  STATES.map(
    ({ done, priority }) => `(${row}.completed = ${done === 'completed'} and ${row}.priority = '${priority}')::int`,
  );
const minus = (left: string[], right: string[]) => left.map((value, n) => `${value} - ${right[n]}`).join(', ');
const NONE = STATES.map(() => '0');

const COUNTED = `
  on conflict (owner_id) do update set sequence = f.sequence + 1,
    counted = case when f.counted = f.sequence then f.sequence + 1 end,
    ${STATES.map(({ column }) => `${column} = f.${column} + excluded.${column}`).join(', ')}
  returning sequence, (f.keys > 0 and f.counted = f.sequence) as has_keys`;
const feedOf = (counts: string) => `
  insert into feeds as f (owner_id, sequence, counted, ${COLUMNS}) select user_id, 1, null::bigint, ${counts} from old
  ${COUNTED}`;
const OLD = 'select * from tasks where id = $3 and user_id = $2 for update';

const LOG = `
  insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
  select $1::smallint, task.user_id, feed.sequence`;
const KEY = `
  insert into task_keys (user_id, id, state, created_at, updated_at)
  select user_id, id, 0, created_at, updated_at from task, feed where has_keys
  on conflict (user_id, id) do update set state = excluded.state`;

const CREATE = `
  with given as (select $2::uuid as user_id, $4::boolean as completed, $5::text as priority), feed as (
    insert into feeds as f (owner_id, sequence, counted, ${COLUMNS}) select user_id, 1, 1, ${isIn('given').join(', ')} from given
    ${COUNTED}
  ), task as (
    insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
    select $3, $2, 'of the release before', $4, $5, now(), now() from feed returning *
  ), key as (${KEY})
  ${LOG}, 'INSERT', row_to_json(task), null, task.created_at from feed, task`;

const UPDATE = `
  with old as (${OLD}), given as (select $4::boolean as completed, $5::text as priority),
  feed as (${feedOf(minus(isIn('given'), isIn('old'))).replace('from old', 'from old, given')}), task as (
    update tasks t set completed = $4, priority = $5, version = old.version + 1 from old, feed
    where t.id = $3 and t.user_id = $2 returning t.*
  ), key as (${KEY})
  ${LOG}, 'UPDATE', row_to_json(task), row_to_json(old), task.updated_at from old, feed, task`;

const DELETE = `
  with old as (${OLD}), feed as (${feedOf(minus(NONE, isIn('old')))}), task as (
    delete from tasks t using old, feed where t.id = $3 and t.user_id = $2 returning t.*
  ), key as (delete from task_keys where user_id = $2 and id = $3 and exists (select from task, feed where has_keys))
  ${LOG}, 'DELETE', row_to_json(task), row_to_json(old), task.updated_at from old, feed, task`;

const MAKE_KEYS = `
  insert into task_keys (user_id, id, state, created_at, updated_at)
  select user_id, id, 0, created_at, updated_at from tasks where user_id = $1`;

/** Recounts, as for a large owner. */
const RECOUNT = `
  insert into feeds as f (owner_id, sequence, counted, keys, ${COLUMNS})
  select $1::uuid, feeds.sequence, feeds.sequence, 1, ${isIn('t')
    .map((is) => `(select sum(${is}) from tasks t where user_id = $1)`)
    .join(', ')}
  from feeds where owner_id = $1
  on conflict (owner_id) do update set counted = excluded.counted, keys = case when excluded.keys > 0 then f.keys + 1 else 0 end,
    ${STATES.map(({ column }) => `${column} = excluded.${column}`).join(', ')}
    where f.sequence = excluded.sequence`;

export interface StateOfTask {
  completed: boolean;
  priority: string;
}

export function createReleaseBefore(database: TestDatabase) {
  const write = (statement: string, owner: string, id: string, ...more: unknown[]) =>
    database.query(statement, [partOf(owner), owner, id, ...more]);
  return {
    create: (owner: string, id: string, { completed, priority }: StateOfTask) =>
      write(CREATE, owner, id, completed, priority),
    update: (owner: string, id: string, { completed, priority }: StateOfTask) =>
      write(UPDATE, owner, id, completed, priority),
    remove: (owner: string, id: string) => write(DELETE, owner, id),
    async recount(owner: string) {
      for (const statement of [MAKE_KEYS, RECOUNT]) await database.query(statement, [owner]);
    },
  };
}
