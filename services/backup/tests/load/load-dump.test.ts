import { connect, disconnect } from '@taskmesh/store/connection';
import { makeTempDir } from '@taskmesh/testing';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadDump } from '../../src/restore/load-dump.ts';
import { createFreshTestDatabase, query as queryAt } from '../support/databases.ts';
import { childrenOf } from '../support/memory.ts';

const database = await createFreshTestDatabase('load');

async function load(sql: string, onProgress?: () => void) {
  const path = join(makeTempDir(), 'database.sql');
  await writeFile(path, sql);
  return loadDump({ path, url: database.loaderUrl, signal: AbortSignal.timeout(20_000), onProgress });
}

const query = (text: string) => queryAt(database.adminUrl, text);

/** The settings that may differ between sessions. */
const SETTINGS = `select name, setting from pg_catalog.pg_settings where context in ('user', 'superuser') and name not like 'plpgsql%' order by name`;
/** What a role could have, and no statement of ours expects. */
const OTHERS = { datestyle: 'SQL, DMY', timezone: 'Asia/Tokyo', lock_timeout: '1min', search_path: 'public', default_transaction_read_only: 'on' }; // prettier-ignore

it('loading a dump in a separate process has the settings of all our connections, and the statement timeout of its role', async () => {
  for (const [name, value] of Object.entries(OTHERS))
    await query(`alter role ${database.names.loader} set ${name} = '${value}'`);
  await query(`
      create table public.seen (name text, setting text);
      grant insert on public.seen to ${database.names.loader}; grant usage on schema public to ${database.names.loader};
      create function public.note() returns event_trigger language plpgsql as
        $$ begin insert into public.seen ${SETTINGS}; end $$;
      create event trigger note on ddl_command_end execute function public.note()`);
  await load('create table t (a int);');
  await query('drop event trigger note');
  const seen = await query('select name, setting from public.seen');
  const settings = { search_path: 'pg_catalog', statement_timeout: null, default_transaction_read_only: 'off' };
  const client = await connect({ url: database.loaderUrl, name: 'taskmesh-restore', settings });
  const { rows } = await client.query(SETTINGS).finally(() => disconnect(client));
  expect(seen).toEqual(rows);
  expect(seen).toContainEqual({ name: 'DateStyle', setting: 'ISO, MDY' });
  expect(seen).toContainEqual({ name: 'statement_timeout', setting: '1048576' });
});

it('loading a dump in a separate process does not blame the dump when the process is killed', async () => {
  const others = childrenOf(process.pid);
  const kill = () => {
    for (const child of childrenOf(process.pid)) if (!others.includes(child)) process.kill(child, 'SIGKILL');
  };
  const dump = `create table u (a int);\n${'insert into u values (1);\n'.repeat(100_000)}`;
  await expect(load(dump, kill)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it('loading a dump in a separate process does not let the loading role do anything outside of its database', async () => {
  const rights = 'rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls';
  expect(await query(`select ${rights}, rolconnlimit, rolconfig from pg_roles where rolname = '${database.names.loader}'`)).toEqual([{
    ...{ rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false, rolconnlimit: 4 },
    rolconfig: expect.arrayContaining(['statement_timeout=1048576', 'temp_file_limit=4194304kB']),
  }]); // prettier-ignore
  expect(
    await query(`select has_database_privilege('public', current_database(), 'connect') as others,
        has_database_privilege('${database.names.loader}', current_database(), 'create') as "makesSchemas"`),
  ).toEqual([{ others: false, makesSchemas: false }]);
});
