import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBareTables, keepBareTables } from '../../src/databases/bare-tables.ts';
import { withClient } from '../../src/databases/connect.ts';
import { handOver } from '../../src/databases/fresh-database.ts';
import { loadDump } from '../../src/loader/load-dump.ts';
import { LoadError } from '../../src/loader/load-error.ts';
import { createFreshTestDatabase, type FreshTestDatabase } from '../support/restore-database.ts';

let database: FreshTestDatabase;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-load-'));
});

afterAll(() => rm(dir, { recursive: true }));

async function load(sql: string | Buffer, { timeoutMs = 20_000 } = {}) {
  const path = join(dir, 'database.sql');
  await writeFile(path, sql);
  return loadDump({ path, url: database.loaderUrl, signal: AbortSignal.timeout(timeoutMs) });
}

const query = (text: string) => withClient(database.adminUrl, async (client) => (await client.query(text)).rows);
const tables = () =>
  query(`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`);
const genuine = () => readFile(new URL('../fixtures/pg-dump-15.sql', import.meta.url), 'utf8');

describe('loadDump', () => {
  beforeEach(async () => {
    database = await createFreshTestDatabase('load');
  });
  afterEach(() => database.drop());

  it('loads what pg_dump wrote, with its restrict lines and without', async () => {
    const dump = await genuine();
    expect(dump).toContain('\\restrict');
    const { copiedRows } = await load(dump);
    expect(copiedRows).toBeGreaterThan(20);
    const [row] = await query(`select description from tasks where title = 'abc'`);
    expect(row).toEqual({ description: '\\.' });
    expect(
      await query(
        `select count(*)::int as n from tasks where description like E'\\r%' or description = E'\\restrict ABC'`,
      ),
    ).toEqual([{ n: 2 }]);

    await database.drop();
    database = await createFreshTestDatabase('load');
    expect(await load(dump.replaceAll(/^\\(un)?restrict .*\n/gm, ''))).toMatchObject({ copiedRows });
  });

  it('keeps of it nothing but tables and rows, owned by the owner of the live database', async () => {
    await load(await genuine());
    await keepBareTables(database.loaderUrl);
    await checkBareTables(database.adminUrl);
    await handOver(database.live.url, database.names);
    expect(await query('select count(*)::int as n from restored.tasks')).toEqual([{ n: 23 }]);
    const columns = await query(
      `select attname, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = 'restored.tasks'::regclass and attname in ('priority', 'title', 'description', 'n')`,
    );
    expect(Object.fromEntries(columns.map(({ attname, type }) => [attname, type]))).toEqual({
      priority: 'text',
      title: 'text',
      description: 'text',
      n: 'integer',
    });
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

  it('finds what a dump would leave running', async () => {
    await load('create function f() returns int language sql as $$ select 1 $$; create table t (a int default f());');
    await expect(checkBareTables(database.adminUrl)).rejects.toThrow(/1 × function/);
  });

  it('loads hand-written SQL with thousands of INSERT statements', async () => {
    const rows = Array.from(
      { length: 3_000 },
      (_, index) => `INSERT INTO t VALUES (${index}, 'it''s; number ${index}');`,
    );
    await load(`BEGIN;\nCREATE TABLE t (id int primary key, name text);\n${rows.join('\n')}\nCOMMIT;\n`);
    expect(await query('select count(*)::int as n, max(id) as last from t')).toEqual([{ n: 3_000, last: 2_999 }]);
  });

  it('lets the loading role do nothing outside of its database', async () => {
    const [role] = await query(
      `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls from pg_roles where rolname = '${database.names.loader}'`,
    );
    expect(role).toEqual({
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
    });
  });
});

describe('a dump that is not loaded', () => {
  beforeAll(async () => {
    database = await createFreshTestDatabase('refuse');
  });
  afterAll(() => database.drop());
  afterEach(async () => {
    expect(await tables()).toEqual([]);
    expect(await query(`select 1 from pg_roles where rolname = 'mallory'`)).toEqual([]);
  });

  it.each([
    ['a shell command', '\\! touch $MARK\ncreate table t ();', 'command for psql'],
    ['a shell command behind a statement', 'create table t (); \\! touch $MARK\n', 'command for psql'],
    ['output to a pipe', '\\o | touch $MARK\nselect 1;', 'command for psql'],
    ['a copy of psql', "\\copy t from program 'touch $MARK'\n", 'command for psql'],
    ['another database', '\\c template1\n', 'command for psql'],
    ['back-quotes', '\\set x `touch $MARK`\n', 'command for psql'],
    ['a query into a pipe', 'select 1 \\g | touch $MARK\n;', 'no SQL'],
    ['a second restrict', '\\restrict a\n\\restrict b\n', 'command for psql'],
    ['an unrestrict with a command', '\\restrict a\n\\unrestrict `touch $MARK`\n', 'command for psql'],
    ['COPY to a program', "copy (select 1) to program 'touch $MARK';", 'COPY is allowed'],
    [
      'COPY to a program, hidden in a block',
      "do $$ begin execute 'copy (select 1) to program ''touch $MARK'''; end $$;",
      'Line 1:',
    ],
    [
      'COPY to a file, hidden in a default',
      "create function f() returns int language plpgsql as $$ begin execute 'copy (select 1) to ''$MARK'''; return 1; end $$; create table t (a int default f()); insert into t default values;",
      'Line 1:',
    ],
    ['an untrusted language', 'create extension plpython3u;', 'not allowed'],
    ['a large object to a file', "do $$ begin perform lo_export(lo_create(0), '$MARK'); end $$;", 'Line 1:'],
    ['a role change, hidden', "do $$ begin execute 'set role postgres'; end $$;", 'Line 1:'],
    ['a superuser, hidden', "do $$ begin execute 'create role mallory superuser'; end $$;", 'Line 1:'],
    ['a system setting, hidden', "do $$ begin execute 'alter system set work_mem = 64'; end $$;", 'Line 1:'],
    [
      'an SQL error',
      'create table t ();\ninsert into nowhere values (1);\n',
      'Line 2: relation "nowhere" does not exist',
    ],
    ['a wrong row', 'create table t (a int);\ncopy t from stdin;\nx\n\\.\n', 'Line 2: invalid input syntax'],
    ['a commit, then an error', 'create table t (); commit; selec;', 'no SQL'],
    ['binary rubbish', Buffer.from('00ff00ff3b', 'hex').toString('latin1'), 'zero bytes'],
    ['a custom-format dump', 'PGDMP\x01\x0e\0\x04;', 'custom format'],
  ])('has %s: it is refused, no command runs', async (_what, sql, message) => {
    const mark = join(dir, 'mark');
    const failure = await load(sql.replaceAll('$MARK', mark)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LoadError);
    expect(String(failure)).toContain(message);
    expect(existsSync(mark)).toBe(false);
  });

  it.each([
    ['at the end', (dump: string) => dump.replace('-- PostgreSQL database dump complete', '')],
    ['within the data', (dump: string) => dump.slice(0, dump.indexOf('\\.\n'))],
    ['between two statements', (dump: string) => dump.slice(0, dump.lastIndexOf('\nCREATE'))],
  ])('is one of pg_dump that was cut %s', async (_where, cut) => {
    await expect(load(cut(await genuine()))).rejects.toThrow('does not end as one');
  });

  it('has a time that is up before the parser has started', async () => {
    await expect(load('do $$ begin perform pg_sleep(1000); end $$;', { timeoutMs: 5 })).rejects.toThrow('was ended');
  });

  it('has a statement that would never end: it is ended', async () => {
    const begin = performance.now();
    await expect(load('do $$ begin perform pg_sleep(1000); end $$;', { timeoutMs: 500 })).rejects.toThrow('was ended');
    await expect(
      load('create table t (a int default 1); insert into t select 1 from generate_series(1, 1000000000000);', {
        timeoutMs: 500,
      }),
    ).rejects.toThrow('was ended');
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});
