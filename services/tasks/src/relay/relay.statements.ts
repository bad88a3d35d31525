import type { Statement } from '@taskmesh/database';
import { CHANGE_COLUMNS } from '../feed/change.ts';

/** The first half of the advisory locks' names; the second is the part. */
export const LOCK_CLASS = 7_203_001;

export const CHANNEL = 'taskmesh_task_changes';

/** $1 the lock class, $2 parts that are wanted. Gives those that are ours from now on. */
export const CLAIM: Statement = {
  name: 'relay-claim',
  text: 'select part from unnest($2::int[]) part where pg_try_advisory_lock($1::int, part)',
};

const unpublished = (butNot: string) => `
  select s.epoch, c.*
  from feed_state s, unnest($1::int[]) held(part), lateral (
    select ${CHANGE_COLUMNS} from changes c
    where c.part = held.part and c.published_at is null ${butNot} order by c.part, c.id limit $2
  ) c`;

const marked = (ids: string) => `update changes set published_at = now() where id = any(${ids}::bigint[])`;

/** $1 parts, $2 how many of each. Each part by its index, oldest first. */
export const READ: Statement = { name: 'relay-read', text: unpublished('') };

/** $1 ids */
export const MARK: Statement = { name: 'relay-mark', text: marked('$1') };

/** Both in one round trip: READ, and $3 the ids that are marked. The snapshot still has them as unpublished. */
export const MARK_AND_READ: Statement = {
  name: 'relay-mark-and-read',
  text: `with marked as (${marked('$3')}) ${unpublished('and c.id <> all($3::bigint[])')}`,
};

export const EPOCH: Statement = { name: 'relay-epoch', text: 'select epoch from feed_state' };

export const WAKE_OTHERS: Statement = {
  name: 'relay-wake-others',
  text: `select pg_notify('${CHANNEL}', '')`,
};

export const PING: Statement = { name: 'relay-ping', text: 'select 1' };

export const BACKLOG: Statement = {
  name: 'relay-backlog',
  text: `
    select count(*)::int as pending,
      coalesce(greatest(extract(epoch from now() - min(occurred_at)), 0), 0)::float8 as oldest_age_s
    from changes where published_at is null`,
};

export const HAS_BACKLOG: Statement = {
  name: 'relay-has-backlog',
  text: 'select exists(select 1 from changes where published_at is null) as pending',
};
