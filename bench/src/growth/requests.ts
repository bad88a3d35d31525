import { withPostgres } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Pool } from 'undici';
import type { User } from '../feed/users.ts';
import { send, type Call } from '../load/calls.ts';
import { measureCost, type Target } from '../machine/targets.ts';
import { sumOf } from '../run/figures.ts';

/** A user with many or few tasks. */
export interface Owner extends User {
  tasks: number;
  /** The id of one of the tasks. */
  taskId: string;
}

const TASKS_PER_OTHER_OWNER = 200;
const BATCH_SIZE = 500_000;

/**
 * Half of the tasks are completed, a quarter is completed and of the category `work`, and the ten oldest have the category
 * `rare`, so that lists of ten are full for every owner.
 */
const insertTasks = (owner: string) => `
  insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
  select gen_random_uuid(), ${owner}, 'Prepare the report of week ' || n, repeat('some words of a task ', n % 8), n % 2 = 0,
    case when n % 3 > 0 then timestamptz '2026-01-01T00:00Z' + (n::bigint * 7919 % 100003) * interval '1 minute' end,
    case when n <= 10 then 'rare' when n % 4 < 2 then 'work' else 'home' end, (array['low', 'medium', 'high'])[1 + n % 3],
    timestamptz '2026-01-01T00:00Z' + n * interval '1 second', timestamptz '2026-02-01T00:00Z' + (n::bigint * 7907 % 100003) * interval '1 second'
  from generate_series($1::int, $2::int) n`;

/** Creates tasks for the users: `sizes` has the number for each. */
export const createTasks = (tasksUrl: string, users: readonly User[], sizes: readonly number[]): Promise<Owner[]> =>
  withPostgres(tasksUrl, async (client) => {
    const owners: Owner[] = [];
    for (const [index, user] of users.entries()) {
      const tasks = sizes[index] ?? 0;
      await client.query(insertTasks(`'${user.id}'::uuid`), [1, tasks]);
      const { rows } = await client.query<{ id: string }>('select id from tasks where user_id = $1 limit 1', [user.id]);
      owners.push({ ...user, tasks, taskId: rows[0]?.id ?? '' });
    }
    return owners;
  });

/** Creates tasks of other owners until the store has `size` tasks. */
export const growTo = (tasksUrl: string, size: number) =>
  withPostgres(tasksUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from tasks');
    for (let from = rows[0]?.count ?? 0; from < size; from += BATCH_SIZE)
      await client.query(insertTasks(`md5('other ' || (n / ${TASKS_PER_OTHER_OWNER}))::uuid`), [
        from + 1,
        Math.min(size, from + BATCH_SIZE),
      ]);
    // Autovacuum would do this sooner or later.
    await client.query('vacuum analyze tasks');
    await client.query('checkpoint');
  });

const rest = (path: string): Call => ({ request: `GET /api/tasks${path}` });
const graphql = (query: string): Call => ({ request: 'POST /graphql', body: { query } });

const STATISTICS = rest('/stats');
const NODE = 'edges { node { id title description completed dueDate category priority createdAt updatedAt version } }';
const ofWork = 'filter: { category: "work" }';

/** All kinds of requests, as clients send them; `n` counts an owner's requests. */
const KINDS: Record<string, (owner: Owner, n: number) => Call> = {
  'statistics (grows)': () => STATISTICS,
  'a task by its id': ({ taskId }) => rest(`/${taskId}`),
  '50, newest first': () => rest('?limit=50'),
  '50 by due date (grows)': () => rest('?limit=50&sortBy=due_date&order=asc'),
  '50 by priority (grows)': () => rest('?limit=50&sortBy=priority&order=desc'),
  '50 by last change (grows)': () => graphql(`{ tasks(first: 50, orderBy: { field: UPDATED_AT }) { ${NODE} } }`),
  '10 of a rare category (grows)': () => rest('?limit=10&category=rare'),
  '10 of a category, by last change (grows)': () =>
    graphql(`{ tasks(first: 10, ${ofWork}, orderBy: { field: UPDATED_AT }) { ${NODE} } }`),
  'a total of a category (grows)': () => graphql(`{ tasks(${ofWork}) { totalCount } }`),
  create: (_owner, n) => ({
    request: 'POST /api/tasks',
    body: { title: `Prepare the report ${n}`, category: 'work', dueDate: '2031-05-17T09:30:00.000Z', priority: 'high' },
    status: 201,
  }),
  update: ({ taskId }, n) => ({ request: `PATCH /api/tasks/${taskId}`, body: { title: `Prepare the report ${n}` } }),
};

/** The cost of one kind of request of one owner in one store. Figures are per request; CPU in milliseconds. */
export interface RequestCost {
  kind: string;
  owner: number;
  store: number;
  server: number;
  postgres: number;
  /** Pages of tables and indexes that were read, from memory or disk. */
  pages: number;
}

const WARM_UP_REQUESTS = 20;
/** More concurrent requests than the service has sessions (10), so that each session runs one. */
const CONCURRENT_REQUESTS = 20;
/** A session reports its counters when a statement ends a second or more after its last report. */
const REPORT_INTERVAL_MS = 1_100;
const REPORT_DELAY_MS = 50;
const PAGES_QUERY = `
  select sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8 as pages
  from pg_statio_user_tables where relname in ('tasks', 'feeds')`;

/** Sends each owner's requests one after the other; the owners take turns for each kind. */
export async function measureRequests(
  { url, sources, ...target }: Target,
  owners: readonly Owner[],
  { store, seconds, signal }: { store: number; seconds: number; signal: AbortSignal },
): Promise<RequestCost[]> {
  const client = new Pool(url);
  const watcher = new Client({ connectionString: sources.tasksDatabase });
  await watcher.connect();
  let lastPages = 0;
  /** Returns the pages read since the last call. */
  const pagesRead = async () => {
    await sleep(REPORT_INTERVAL_MS);
    await Promise.all(
      Array.from({ length: CONCURRENT_REQUESTS }, () => send(client, { ...STATISTICS, token: owners[0]?.token ?? '' })),
    );
    await sleep(REPORT_DELAY_MS);
    const pages = sumOf((await watcher.query<{ pages: number }>(PAGES_QUERY)).rows.map((row) => row.pages));
    const before = lastPages;
    lastPages = pages;
    return pages - before;
  };
  await pagesRead();
  const reporting = await pagesRead(); // without requests in between

  const costs: RequestCost[] = [];
  for (const [kind, callOf] of Object.entries(KINDS))
    for (const owner of owners) {
      signal.throwIfAborted();
      let sent = 0;
      const once = () => send(client, { ...callOf(owner, sent++), token: owner.token });
      while (sent < WARM_UP_REQUESTS) await once();
      const { cpu } = await measureCost(target, 'requests', async () => {
        for (const end = performance.now() + seconds * 1_000; performance.now() < end;) await once();
        return { requests: sent - WARM_UP_REQUESTS };
      });
      const pages = ((await pagesRead()) - reporting) / sent;
      costs.push({ kind, owner: owner.tasks, store, server: cpu.server, postgres: cpu.postgres, pages });
    }
  await watcher.end();
  await client.close();
  return costs;
}
