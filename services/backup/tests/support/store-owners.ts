import { inDatabase } from '@taskmesh/store';
import type { ImportResult } from '@taskmesh/internal-api';
import type { StoreName } from '../../src/databases/store.ts';
import type { StoreOwner } from '../../src/index.ts';
import { query } from './databases.ts';

/** A minimal tasks store: the real one has more columns, which do not matter here. */
export const TASKS_SCHEMA = `
  create table tasks (id uuid primary key, title text not null check (length(title) >= 3));
  create table feed_state (epoch int not null);
  insert into feed_state values (1);`;

export const AUTH_SCHEMA = `
  create table accounts (id int primary key, email text not null unique);
  create table sessions (id bigserial primary key, account int not null references accounts (id));`;

/** Creates owners of stores: simple versions of the services. */
export function createOwners(urls: Record<StoreName, string>): Record<StoreName, StoreOwner> {
  /** `fill` makes the store of the rows of its table in the schema `restored`. */
  const ownerOf = (store: StoreName, table: string, fill: string) => {
    const count = async (url: string) => Number((await query(url, `select count(*) as n from ${table}`))[0]?.n);
    return {
      async importDatabase(database: string): Promise<ImportResult> {
        const url = inDatabase(urls[store], database);
        const [found] = await query(url, `select to_regclass('restored.${table}') as name`);
        if (!found?.name) return { complete: false, reason: `There is no table ${table}.` };
        await query(url, `begin; ${fill} drop schema restored cascade; commit`);
        return { complete: true, rows: { [table]: await count(url) }, dropped: [] };
      },
      async compare(database: string) {
        const [now, after] = [await count(urls[store]), await count(inDatabase(urls[store], database))];
        return { tables: { [table]: { now, after } } };
      },
    };
  };
  const fillTasks = `${TASKS_SCHEMA} insert into tasks select id, title from restored.tasks; update feed_state set epoch = 2;`;
  const fillAccounts = `${AUTH_SCHEMA} insert into accounts select id, email from restored.accounts;`;
  return {
    tasks: {
      ...ownerOf('tasks', 'tasks', fillTasks),
      async resume(database) {
        const [live] = await query(urls.tasks, 'select epoch from feed_state');
        const raise = 'update feed_state set epoch = 1 + greatest(epoch, $1)';
        await query(inDatabase(urls.tasks, database), raise, [live?.epoch]);
      },
    },
    auth: {
      ...ownerOf('auth', 'accounts', fillAccounts),
      resume: async () => undefined,
      async carryOver(database) {
        const sessions = JSON.stringify(await query(urls.auth, 'select id, account from sessions'));
        await query(
          inDatabase(urls.auth, database),
          `begin; truncate sessions;
           insert into sessions (id, account) select (s ->> 'id')::int, (s ->> 'account')::int
             from jsonb_array_elements('${sessions}') s join accounts a on a.id = (s ->> 'account')::int;
           select setval('sessions_id_seq', greatest((select max(id) from sessions), 1)); commit`,
        );
      },
    },
  };
}
