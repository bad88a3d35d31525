import type { TestDatabase } from '@taskmesh/testing';
import { partOf } from '../../src/feed/partition.ts';

/*
 * Writes as 0.1.0 made them: during a roll-out they come between our own, and afterwards when somebody goes back. They
 * never change.
 */

const LOG = `
  insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
  select $1::smallint, task.user_id, feed.sequence`;
const COUNTED = `
  insert into feeds as f (owner_id, sequence) select user_id, 1 from old
  on conflict (owner_id) do update set sequence = f.sequence + 1 returning sequence`;
const OLD = 'select * from tasks where id = $3 and user_id = $2 for update';

const CREATE = `
  with feed as (
    insert into feeds as f (owner_id, sequence) select $2::uuid, 1
    on conflict (owner_id) do update set sequence = f.sequence + 1 returning sequence
  ), task as (
    insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
    select $3, $2, 'of the release before', $4, $5, now(), now() from feed returning *
  )
  ${LOG}, 'INSERT', row_to_json(task), null, task.created_at from feed, task`;

const UPDATE = `
  with old as (${OLD}), feed as (${COUNTED}), task as (
    update tasks t set completed = $4, priority = $5, version = old.version + 1 from old, feed
    where t.id = $3 and t.user_id = $2 returning t.*
  )
  ${LOG}, 'UPDATE', row_to_json(task), row_to_json(old), task.updated_at from old, feed, task`;

const DELETE = `
  with old as (${OLD}), feed as (${COUNTED}), task as (
    delete from tasks t using old, feed where t.id = $3 and t.user_id = $2 returning t.*
  )
  ${LOG}, 'DELETE', row_to_json(task), row_to_json(old), task.updated_at from old, feed, task`;

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
  };
}
