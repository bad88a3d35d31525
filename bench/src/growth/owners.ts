import { withPostgres } from '@taskmesh/local';
import type { User } from '../feed/users.ts';

/** Somebody with many tasks, or few. */
export interface Owner extends User {
  tasks: number;
  /** One of them. */
  taskId: string;
}

const OF_OTHERS = 200;
const AT_ONCE = 500_000;

/**
 * Half of the tasks are completed, a quarter is both completed and of the category `work`; `rare` are the ten oldest.
 * So lists of ten are full for everybody.
 */
const insert = (owner: string) => `
  insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
  select gen_random_uuid(), ${owner}, 'Prepare the report of week ' || n, repeat('some words of a task ', n % 8), n % 2 = 0,
    case when n % 3 > 0 then timestamptz '2026-01-01T00:00Z' + (n::bigint * 7919 % 100003) * interval '1 minute' end,
    case when n <= 10 then 'rare' when n % 4 < 2 then 'work' else 'home' end, (array['low', 'medium', 'high'])[1 + n % 3],
    timestamptz '2026-01-01T00:00Z' + n * interval '1 second', timestamptz '2026-02-01T00:00Z' + (n::bigint * 7907 % 100003) * interval '1 second'
  from generate_series($1::int, $2::int) n`;

/** Gives each of these users so many tasks. */
export async function giveTasks(tasksUrl: string, users: readonly User[], sizes: readonly number[]): Promise<Owner[]> {
  return withPostgres(tasksUrl, async (client) => {
    const owners: Owner[] = [];
    for (const [index, user] of users.entries()) {
      const tasks = sizes[index] ?? 0;
      await client.query(insert(`'${user.id}'::uuid`), [1, tasks]);
      const { rows } = await client.query<{ id: string }>('select id from tasks where user_id = $1 limit 1', [user.id]);
      owners.push({ ...user, tasks, taskId: rows[0]?.id ?? '' });
    }
    return owners;
  });
}

/** Tasks of others, until there are so many in the store. */
export async function growTo(tasksUrl: string, size: number, log: (line: string) => void): Promise<void> {
  await withPostgres(tasksUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from tasks');
    const before = rows[0]?.count ?? 0;
    for (let from = before; from < size; from += AT_ONCE) {
      const to = Math.min(size, from + AT_ONCE);
      await client.query(insert(`md5('other ' || (n / ${OF_OTHERS}))::uuid`), [from + 1, to]);
      log(`  ${to} tasks in the store`);
    }
    // What autovacuum does sooner or later.
    await client.query('vacuum analyze tasks');
    await client.query('checkpoint');
  });
}
