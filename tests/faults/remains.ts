import { INNER_SERVICES, type Stack } from '@taskmesh/local';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { escapeIdentifier } from 'pg';
import { queryStore } from '../stack.ts';

const MISCOUNTED = `
  select owner_id from feeds f full join (select user_id as owner_id, count(*) as found from tasks group by user_id) t using (owner_id)
  where coalesce(f.tasks, 0) <> coalesce(t.found, 0)`;

/** Returns the owners for which the store has a wrong number of tasks. */
export const miscounted = (stack: Stack) => queryStore<{ owner_id: string }>(stack, 'tasks', MISCOUNTED);

const TABLES = `select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`;

/** Returns all rows, as text, of all tables (`store.table`) of all stores that contain one of these words. */
async function rowsWith(stack: Stack, words: string[]) {
  const patterns = words.map((word) => `%${word}%`);
  const found: { table: string; row: string }[] = [];
  for (const store of INNER_SERVICES)
    for (const { name } of await queryStore<{ name: string }>(stack, store, TABLES)) {
      const select = `select t::text as row from ${escapeIdentifier(name)} t where t::text like any($1)`;
      const rows = await queryStore<{ row: string }>(stack, store, select, [patterns]);
      found.push(...rows.map(({ row }) => ({ table: `${store}.${name}`, row })));
    }
  return found;
}

/** Tables that keep one row of a deleted account: the time of the deletion, its audit entry, and the end of its feed. */
const MAY_REMAIN = ['auth.account_log', 'auth.audit_log', 'tasks.feeds'];

/**
 * Reports data of deleted accounts that should not remain, and data that should remain but does not. `mark` must occur in
 * everything that they ever wrote, and nowhere else.
 */
export async function wrongRemains(stack: Stack, { ids, mark }: { ids: string[]; mark: string }): Promise<string[]> {
  const rows = await rowsWith(stack, [mark, ...ids]);
  const written = rows.filter(({ row }) => row.includes(mark));
  const ofIds = ids.flatMap((id) => {
    const tables = rows.filter(({ row }) => row.includes(id)).map(({ table }) => table);
    return String(tables.toSorted()) === String(MAY_REMAIN) ? [] : [`of ${id}: ${tables.join(', ') || 'nothing'}`];
  });
  const elsewhere = [
    ...((await everythingInRedis(stack)).includes(mark) ? ['Redis'] : []),
    ...[...stack.processes.values()].flatMap(({ name, current }) =>
      readFileSync(current.logFile, 'utf8').includes(mark) ? [`the log of ${name}`] : [],
    ),
  ];
  const trail = rows.filter(({ table, row }) => table === 'auth.audit_log' && !row.includes('account.deleted'));
  return [...written, ...trail].map(({ table, row }) => `${table}: ${row}`).concat(ofIds, elsewhere);
}

const DUMP_ALL = `"local all = {} for _, key in ipairs(redis.call('KEYS', '*')) do all[#all + 1] = key .. redis.call('DUMP', key) end return all"`;

/** Returns all keys and values. */
async function everythingInRedis({ servers }: Stack): Promise<string> {
  const { hostname, port, username, password } = new URL(servers.redis);
  const socket = connect(Number(port), hostname);
  if (password) socket.write(`AUTH ${username || 'default'} ${password}\r\n`);
  socket.write(`EVAL ${DUMP_ALL} 0\r\nQUIT\r\n`);
  const response = await text(socket);
  if (!/^(\+OK\r\n)?\*/.test(response)) throw new Error(`Redis responded with ${response}.`);
  return response;
}
