import type { Statement } from '@taskmesh/database';
import { STATE, TASK_STATES } from './task-states.ts';

/*
 * Answers about an owner's tasks that do not need reading them. The feed's row counts the tasks by state. For owners with
 * many tasks, `task_keys` holds what lists are sorted and filtered by, with an index for each order; the row's `keys` is
 * above 0 then, and increases each time the keys are rebuilt.
 *
 * Both are valid as of the change `counted`. Our writes update them, and advance `counted` together with `sequence`. The
 * previous release knows neither, so after its changes the two differ; then the tasks themselves are read, until
 * housekeeping has counted again. Nothing else may change tasks without advancing `sequence`.
 */

interface StateSource {
  completed: string;
  priority: string;
}

const COLUMNS = TASK_STATES.map(({ column }) => column);

/** The names of all columns that count, for an insert into `feeds`. */
export const COUNT_COLUMNS = ['counted', ...COLUMNS].join(', ');

const isIn = ({ completed, priority }: StateSource, state: (typeof TASK_STATES)[number]) =>
  `(${completed} = ${state.completed} and ${priority} = '${state.priority}')::int`;

/** What a write adds to each column. */
export function countsOf({ added, removed }: { added?: StateSource; removed?: StateSource }): string {
  return TASK_STATES.map(
    (state) => (added ? isIn(added, state) : '0') + (removed ? ` - ${isIn(removed, state)}` : ''),
  ).join(', ');
}

/** For an owner whose tasks are all being deleted: nothing is counted, and there are no valid keys. */
export const COUNT_NOTHING = ['counted = null', 'keys = 0', ...COLUMNS.map((column) => `${column} = 0`)].join(', ');

/** For an existing row `f`. `unless`: SQL that is true when the write cannot keep counts and keys valid. */
export function keepCounting(unless = 'false'): string {
  return [
    `counted = case when f.counted = f.sequence and not (${unless}) then f.sequence + 1 end`,
    ...COLUMNS.map((column) => `${column} = f.${column} + excluded.${column}`),
  ].join(', ');
}

/** Whether the feed's row `f` is up to date in the statement's snapshot. */
export const IS_COUNTED = 'f.counted = f.sequence';

/** What a write's `feed` returns about the row that it wrote. */
export const HAS_KEYS = '(f.keys > 0 and f.counted = f.sequence) as has_keys';

const KEY_COLUMNS = 'user_id, id, state, category, due_date, created_at, updated_at';
const KEY_VALUES = `user_id, id, ${STATE}, category, due_date, created_at, updated_at`;

const KEEP_LATER = `
  on conflict (user_id, id) do update set state = excluded.state, category = excluded.category,
    due_date = excluded.due_date, created_at = excluded.created_at, updated_at = excluded.updated_at`;

/** An upsert, because a write that began before the keys were made does not see them. */
export const KEEP_KEY = `insert into task_keys (${KEY_COLUMNS}) select ${KEY_VALUES} from task, feed where has_keys ${KEEP_LATER}`;

const sumOf = (columns: string[]) => columns.map((column) => `f.${column}`).join(' + ');

/** `states`: SQL of an array; only these count. */
export function sumOfStates(states: string): string {
  return COLUMNS.map((column, number) => `case when ${number} = any(${states}) then f.${column} else 0 end`).join(
    ' + ',
  );
}

export const SUM_OF_ALL = sumOf(COLUMNS);
const SUM_OF_COMPLETED = sumOf(COLUMNS.filter((_, number) => TASK_STATES[number]?.completed));

/** Owners with more tasks get keys. Without keys, a list reads and sorts at most this many. */
export const MOST_WITHOUT_KEYS = 500;

/** Whether the feed's row `f` is as it should be; otherwise housekeeping has to count again (see `RECOUNT`). */
export const IS_KEPT = `coalesce(${IS_COUNTED} and (f.keys > 0 or ${SUM_OF_ALL} <= ${MOST_WITHOUT_KEYS}), false)`;

/** $1: owner. Always returns a row. */
export const STATISTICS: Statement = {
  name: 'task-statistics',
  text: `
    select ${IS_KEPT} as is_kept,
      case when ${IS_COUNTED} then ${SUM_OF_ALL} else (select count(*)::int from tasks where user_id = $1) end as total,
      case when ${IS_COUNTED} then ${SUM_OF_COMPLETED}
        else (select count(*)::int from tasks where user_id = $1 and completed) end as completed
    from (select 1) as one left join feeds f on f.owner_id = $1`,
};

const TRUTH = TASK_STATES.map(
  ({ column }, number) => `(count(*) filter (where ${STATE} = ${number}))::int as ${column}`,
);
const TAKE_TRUTH = ['counted', ...COLUMNS].map((column) => `${column} = excluded.${column}`).join(', ');

const IS_OF_NO_TASK = 'not exists (select from tasks t where t.id = k.id and t.user_id = $1)';

/** Tasks of $1 without a key, or with one that differs. */
const UNKEYED = `
  select t.* from tasks t where t.user_id = $1 and not exists (
    select from task_keys k where k.user_id = $1 and k.id = t.id
      and (k.state, k.category, k.due_date, k.created_at, k.updated_at)
        is not distinct from (${STATE}, t.category, t.due_date, t.created_at, t.updated_at)
  )`;

const TURN = `hashtextextended('keys of ' || $1::uuid, 0)`;

/**
 * $1: owner. One instance at a time makes an owner's keys, until END_TURN or the end of its session. A slower one would
 * overwrite newer keys with what it saw earlier.
 */
export const TAKE_TURN: Statement = {
  name: 'task-take-turn',
  text: `select pg_try_advisory_lock(${TURN}) as is_ours`,
};

/** $1: owner. */
export const END_TURN: Statement = { name: 'task-end-turn', text: `select pg_advisory_unlock(${TURN})` };

/**
 * $1: owner, $2: the most tasks without keys. Makes the keys of a large owner who has no valid ones; nothing uses them
 * before RECOUNT. May take long for many new tasks, but blocks nothing.
 */
export const MAKE_KEYS: Statement = {
  name: 'task-make-keys',
  text: `
    with gone as (delete from task_keys k where user_id = $1 and ${IS_OF_NO_TASK})
    insert into task_keys (${KEY_COLUMNS}) select ${KEY_VALUES} from (${UNKEYED}) unkeyed
    where (select count(*) from tasks where user_id = $1) > $2::int
      and not exists (
        select from feeds f where f.owner_id = $1 and (f.keys > 0 and ${IS_COUNTED} or f.ends_at is not null)
      ) ${KEEP_LATER}`,
};

/** $1: owner. Makes the owner's writes wait; otherwise RECOUNT would never succeed for an owner who writes all the time. */
export const HOLD_OWNER: Statement = {
  name: 'task-hold-owner',
  text: 'select from feeds where owner_id = $1 for no key update',
};

/**
 * $1: owner, $2: the most tasks without keys. Makes counts and keys valid, replacing only the keys that differ. Changes
 * nothing if the owner has written since the snapshot, whose sequence it compares.
 */
export const RECOUNT: Statement = {
  name: 'task-recount',
  text: `
    with head as (select coalesce((select sequence from feeds where owner_id = $1), 0) as sequence),
    truth as (select count(*) > $2::int as is_large, ${TRUTH.join(', ')} from tasks where user_id = $1),
    feed as (
      insert into feeds as f (owner_id, sequence, ${COUNT_COLUMNS}, keys)
      select $1::uuid, sequence, sequence, ${COLUMNS.join(', ')}, is_large::int from head, truth
      on conflict (owner_id) do update set ${TAKE_TRUTH}, keys = case when excluded.keys > 0 then f.keys + 1 else 0 end
        where f.sequence = excluded.sequence
      returning ${HAS_KEYS}
    ), gone as (
      delete from task_keys k using feed where user_id = $1 and (not has_keys or ${IS_OF_NO_TASK})
    )
    insert into task_keys (${KEY_COLUMNS}) select ${KEY_VALUES} from feed, (${UNKEYED}) unkeyed where has_keys ${KEEP_LATER}`,
};

/** For a store without feeds. */
export const COUNT_ALL: Statement = {
  name: 'task-count-all',
  text: `
    insert into public.feeds (owner_id, sequence, ${COUNT_COLUMNS})
    select user_id, 0, 0, ${TRUTH.join(', ')} from public.tasks group by user_id`,
};
