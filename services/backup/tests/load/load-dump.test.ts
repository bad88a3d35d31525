import { LoadError } from '@taskmesh/pg-rows';
import { eventually, makeTempDir } from '@taskmesh/testing';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assignToOwner } from '../../src/databases/fresh-database.ts';
import { loadDump } from '../../src/restore/load-dump.ts';
import { childrenOf } from '../support/memory.ts';
import { createFreshTestDatabase, withClient } from '../support/databases.ts';

const dir = makeTempDir();

const database = await createFreshTestDatabase('load');

async function load(sql: string | Buffer, { timeoutMs = 20_000 } = {}) {
  const path = join(dir, 'database.sql');
  await writeFile(path, sql);
  return loadDump({ path, url: database.loaderUrl, signal: AbortSignal.timeout(timeoutMs) });
}

const query = (text: string) => withClient(database.adminUrl, async (client) => (await client.query(text)).rows);
/** Enough to load for a second, so that what a test does at the first progress happens during the load. */
const LONG_ROWS = 1_000_000;
/** Returns the id of the loading child process. */
const loadingProcess = () =>
  childrenOf(process.pid).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('load.process')) ?? NaN;

describe('loading a dump in a separate process', () => {
  it('names the line that PostgreSQL refuses, but no values', async () => {
    const loading = load('create table t (a int);\ncopy t from stdin;\nsecret\n\\.\n');
    await expect(loading).rejects.toBeInstanceOf(LoadError);
    await expect(loading).rejects.toMatchObject({
      message: 'Line 2: PostgreSQL refuses a value (22P02, table t, row 1, column a)',
      cause: { code: '22P02' },
    });
  });

  it('respects a timeout that expires before its process has started', async () => {
    await expect(load('create table t (a int);', { timeoutMs: 5 })).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('is ended together with its session when it waits forever', async () => {
    await withClient(database.adminUrl, async (holder) => {
      await holder.query('begin; lock table pg_class in access exclusive mode');
      await expect(load('create table t (a int);', { timeoutMs: 1_500 })).rejects.toMatchObject({
        name: 'TimeoutError',
      });
      await holder.query('rollback');
    });
    await eventually(async () =>
      expect(
        await query(
          `select 1 from pg_stat_activity where application_name = 'taskmesh-restore' and datname = current_database()`,
        ),
      ).toEqual([]),
    );
  });

  it('ignores signals to the process group, does not blame the dump when it is killed, and gets none of our settings', async () => {
    const rows = Array.from({ length: LONG_ROWS }, (_, index) => `${index}\tsome text of a row`);
    const path = join(dir, 'database.sql');
    await writeFile(path, `create table long (id int, name text);\ncopy long from stdin;\n${rows.join('\n')}\n\\.\n`);
    let environment = '';
    const loadAnd = (signals: NodeJS.Signals[]) => {
      const onProgress = () => {
        environment ||= readFileSync(`/proc/${loadingProcess()}/environ`, 'utf8');
        for (const signal of signals.splice(0)) process.kill(loadingProcess(), signal);
      };
      return loadDump({ path, url: database.loaderUrl, signal: AbortSignal.timeout(60_000), onProgress });
    };
    await expect(loadAnd(['SIGKILL'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await loadAnd(['SIGTERM', 'SIGINT', 'SIGHUP'])).toMatchObject({ copiedRows: LONG_ROWS });
    const names = environment.split('\0').map((line) => line.split('=')[0]);
    expect(names).toContain('NODE_CHANNEL_FD');
    expect(names).not.toContain('PATH'); // nor does it get our own variables
  });

  it('rejects with the reason of the abort', async () => {
    const reason = new Error('The time is up.');
    const path = join(dir, 'database.sql');
    await writeFile(path, 'create table t (id int);');
    const ended = loadDump({ path, url: database.loaderUrl, signal: AbortSignal.abort(reason) });
    await expect(ended).rejects.toBe(reason);
  });

  it('does not let the loading role do anything outside of its database', async () => {
    const [role] = await query(
      `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolconnlimit, rolconfig from pg_roles where rolname = '${database.names.loader}'`,
    );
    expect(role).toEqual({
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
      rolconnlimit: 4,
      rolconfig: ['statement_timeout=1048576', 'temp_file_limit=4194304kB'],
    });
    expect(
      await query(`select has_database_privilege('public', current_database(), 'connect') as others,
        has_database_privilege('${database.names.loader}', current_database(), 'create') as "makesSchemas"`),
    ).toEqual([{ others: false, makesSchemas: false }]);
  });

  it('gives the tables to the owner of the live database, and leaves no role behind, even if a server is read-only by default', async () => {
    await query(`alter role ${database.names.loader} set default_transaction_read_only = on`);
    await load('create table tasks (id int);');
    await assignToOwner(database.live.url, database.names);
    expect(
      await query(
        `select pg_get_userbyid(relowner) = (select pg_get_userbyid(datdba) from pg_database where datname = '${database.names.live}') as same from pg_class where oid = 'restored.tasks'::regclass`,
      ),
    ).toEqual([{ same: true }]);
    expect(await query(`select 1 from pg_roles where rolname = '${database.names.loader}'`)).toEqual([]);
    expect(await query(`select has_database_privilege('public', current_database(), 'connect') as may`)).toEqual([
      { may: true },
    ]);
  });
});
