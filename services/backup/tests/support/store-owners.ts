import { inDatabase } from '@taskmesh/store';
import type { ImportResult } from '@taskmesh/internal-api';
import type { StoreOwner } from '../../src/index.ts';
import { withClient } from './databases.ts';

/** A minimal tasks store: the real one has more columns, which do not matter here. */
export const TASKS_SCHEMA = `
  create table tasks (id uuid primary key, title text not null check (length(title) >= 3));
  create table feed_state (epoch int not null);
  insert into feed_state values (1);`;

export const AUTH_SCHEMA = `
  create table accounts (id int primary key, email text not null unique);
  create table sessions (id bigserial primary key, account int not null references accounts (id));`;

/** Creates owners of stores: simple versions of the services. */
export function createOwners(liveUrls: { tasks: string; auth: string }): { tasks: StoreOwner; auth: StoreOwner } {
  return {
    tasks: {
      importDatabase: (database) =>
        importDatabase(
          inDatabase(liveUrls.tasks, database),
          'tasks',
          `${TASKS_SCHEMA}
          insert into tasks (id, title) select id, title from restored.tasks;
          update feed_state set epoch = 2;`,
        ),
      compare: async (database) => ({ tables: await countsOf(liveUrls.tasks, database, 'tasks') }),
      resume: (database) =>
        withClient(liveUrls.tasks, async (live) => {
          const { rows } = await live.query<{ epoch: number }>('select epoch from feed_state');
          await withClient(inDatabase(liveUrls.tasks, database), (client) =>
            client.query('update feed_state set epoch = 1 + greatest(epoch, $1)', [rows[0]?.epoch]),
          );
        }),
    },
    auth: {
      compare: async (database) => ({ tables: await countsOf(liveUrls.auth, database, 'accounts') }),
      resume: async () => undefined,
      importDatabase: (database) =>
        importDatabase(
          inDatabase(liveUrls.auth, database),
          'accounts',
          `${AUTH_SCHEMA}
          insert into accounts (id, email) select id, email from restored.accounts;`,
        ),
      async carryOver(database) {
        const sessions = await withClient(
          liveUrls.auth,
          async (client) => (await client.query('select id, account from sessions')).rows,
        );
        await withClient(inDatabase(liveUrls.auth, database), async (client) => {
          await client.query('begin');
          await client.query('truncate sessions');
          await client.query(
            `insert into sessions (id, account) select (s ->> 'id')::int, (s ->> 'account')::int
             from jsonb_array_elements($1) s join accounts a on a.id = (s ->> 'account')::int`,
            [JSON.stringify(sessions)],
          );
          await client.query(`select setval('sessions_id_seq', greatest((select max(id) from sessions), 1))`);
          await client.query('commit');
        });
      },
    },
  };
}

async function countsOf(liveUrl: string, database: string, table: string) {
  const count = (url: string) =>
    withClient(url, async (client) => Number((await client.query(`select count(*) as n from ${table}`)).rows[0]?.n));
  return { [table]: { now: await count(liveUrl), after: await count(inDatabase(liveUrl, database)) } };
}

async function importDatabase(url: string, table: string, statements: string): Promise<ImportResult> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ found: string | null }>('select to_regclass($1) as found', [
      `restored.${table}`,
    ]);
    if (!rows[0]?.found) return { complete: false, reason: `There is no table ${table}.` };
    await client.query('begin');
    await client.query(`${statements} drop schema restored cascade`);
    await client.query('commit');
    const count = await client.query<{ n: number }>(`select count(*)::int as n from ${table}`);
    return { complete: true, rows: { [table]: count.rows[0]?.n ?? 0 }, dropped: [] };
  });
}
