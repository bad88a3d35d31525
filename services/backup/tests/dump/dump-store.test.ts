import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DumpError } from '../../src/dump/dump-error.ts';
import { DUMP_POLICIES, type DumpPolicy } from '../../src/dump/dump-policy.ts';
import { dumpStore } from '../../src/dump/dump-store.ts';
import { openSnapshot } from '../../src/dump/snapshot.ts';
import { withClient } from '../../src/databases/connect.ts';
import { loadDump } from '../../src/loader/load-dump.ts';
import { createFreshTestDatabase } from '../support/restore-database.ts';
import { FULL_SCHEMA, FULL_TABLES } from './full-schema.ts';

const run = promisify(execFile);
const PSQL = '/usr/bin/psql';
const EVERYTHING: DumpPolicy = { withoutRows: new Set(), replaced: new Map() };

let dir: string;
let path: string;
let store: TestDatabase;
let count = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-dump-'));
});
afterAll(() => rm(dir, { recursive: true }));
beforeEach(async () => {
  store = await createTestDatabase('dump');
  path = join(dir, `${(count += 1)}.sql`);
});
afterEach(() => store.drop());

async function dump(policy = EVERYTHING, meanwhile?: () => Promise<void>) {
  const snapshot = await openSnapshot(store.url);
  try {
    await meanwhile?.();
    const result = await snapshot.read((client) => dumpStore({ client, path, policy }));
    await snapshot.finish();
    return result;
  } finally {
    snapshot.close();
  }
}

type Ask = (text: string) => Promise<Record<string, unknown>[]>;

/** All rows as text, in an order of their own. */
async function rowsOf(ask: Ask, schema = 'public') {
  const content: unknown[] = [];
  for (const table of FULL_TABLES)
    content.push(await ask(`select t::text as row from ${schema}.${table} t order by 1`));
  return content;
}

/** The same, and where the sequences stand. */
async function contentOf(ask: Ask) {
  const content = await rowsOf(ask);
  content.push(await ask('select last_value, is_called from free_numbers'));
  content.push(await ask('select last_value, is_called from select_id_seq'));
  content.push(await ask('select last_value, is_called from audit_id_seq'));
  return content;
}

/** A database's schema, in PostgreSQL's own words. */
const schemaOf = (ask: Ask) =>
  ask(`
    select 'column' as kind, attrelid::regclass::text as parent, attname::text as name,
      concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)) as text
    from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0
    union all select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
    union all select 'index', tablename, indexname, indexdef || coalesce(obj_description(('public.' || quote_ident(indexname))::regclass), '') from pg_indexes where schemaname = 'public'
    union all select 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select 'function', '', proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all select 'relation', '', relname, concat_ws(' ', reloptions::text, obj_description(oid)) from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
    union all select 'sequence', coalesce((select refobjid::regclass::text || refobjsubid || deptype::text from pg_depend where objid = seqrelid and refobjsubid > 0), ''), seqrelid::regclass::text,
      concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle) from pg_sequence
    order by 1, 2, 3`);

const psql = (url: string) => run(PSQL, ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-1', '-f', path, url]);

describe('dumpStore', () => {
  it('writes what psql loads as the same rows and the same schema', async () => {
    await store.query(FULL_SCHEMA);
    await dump();
    const copy = await createTestDatabase('copy');
    try {
      const { stderr } = await psql(copy.url);
      expect(stderr).toBe('');
      expect(await contentOf(copy.query)).toEqual(await contentOf(store.query));
      expect(await schemaOf(copy.query)).toEqual(await schemaOf(store.query));
    } finally {
      await copy.drop();
    }
  });

  it('writes what the loader takes as the same rows', async () => {
    await store.query(FULL_SCHEMA);
    const { rows } = await dump();
    const fresh = await createFreshTestDatabase('dumpload');
    try {
      const { copiedRows } = await loadDump({ path, url: fresh.loaderUrl, signal: AbortSignal.timeout(20_000) });
      expect(copiedRows).toBe(Object.values(rows).reduce((sum, n) => sum + n, 0));
      const ask: Ask = (text) => withClient(fresh.adminUrl, async (client) => (await client.query(text)).rows);
      expect(await rowsOf(ask, 'restored')).toEqual(await rowsOf(store.query));
    } finally {
      await fresh.drop();
    }
  });

  it('says what it wrote', async () => {
    await store.query(FULL_SCHEMA);
    await store.query(
      `create table mikro_orm_migrations (id serial primary key, name text); insert into mikro_orm_migrations (name) values ('0001-a'), ('0002-b')`,
    );
    const { sha256, sizeBytes, rows, serverVersion, schemaVersion } = await dump();
    const text = await readFile(path);
    expect(sha256).toBe(createHash('sha256').update(text).digest('hex'));
    expect(sizeBytes).toBe(text.length);
    expect(rows).toEqual({ people: 2, select: 10, audit: 50, unchecked: 1, mikro_orm_migrations: 2 });
    expect(serverVersion).toMatch(/^\d+\.\d+/);
    expect(schemaVersion).toBe('0002-b');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(text.toString().startsWith('--\n-- PostgreSQL database dump\n--\n')).toBe(true);
    expect(text.toString().trimEnd().endsWith('-- PostgreSQL database dump complete\n--')).toBe(true);
  });

  it('holds the store as it was at one moment, whatever is written meanwhile', async () => {
    await store.query(
      'create table one (n int); create table two (n int); insert into one values (1); insert into two values (1)',
    );
    const { rows } = await dump(EVERYTHING, async () => {
      await store.query('delete from one; insert into two select generate_series(2, 100)');
    });
    expect(rows).toEqual({ one: 1, two: 1 });
  });

  it('leaves out what lets somebody in: sessions, tokens and the key of cursors', async () => {
    await store.query(`
      create table accounts (id int primary key);
      create table sessions (id text primary key, account int references accounts);
      create table refresh_tokens (hash text); create table reset_tokens (hash text); create table ended_sessions (id text);
      insert into accounts values (1);
      insert into sessions values ('secret-1', 1); insert into refresh_tokens values ('secret-2');
      insert into reset_tokens values ('secret-3'); insert into ended_sessions values ('secret-4')`);
    const none = { sessions: 0, refresh_tokens: 0, reset_tokens: 0, ended_sessions: 0 };
    expect((await dump(DUMP_POLICIES.auth)).rows).toEqual({ accounts: 1, ...none });
    const text = await readFile(path, 'utf8');
    expect(text).toContain('CREATE TABLE public.refresh_tokens');
    expect(text).not.toContain('secret-');
  });

  it('writes another key of cursors than the living one', async () => {
    await store.query(
      `create table feed_state (epoch int not null, cursor_key bytea not null); insert into feed_state values (5, '\\xdeadbeef')`,
    );
    expect((await dump(DUMP_POLICIES.tasks)).rows).toEqual({ feed_state: 1 });
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain('deadbeef');
    expect(text).toMatch(/\nCOPY public\.feed_state \(epoch, cursor_key\) FROM stdin;\n5\t\\\\x[0-9a-f]{64}\n\\\.\n/);
  });

  it('lets nothing in a name become a statement', async () => {
    await store.query(
      `create table "t\ncreate table injected (); --" (n int); create index "i\n;drop table x" on "t\ncreate table injected (); --" (n)`,
    );
    await dump();
    const copy = await createTestDatabase('copy');
    try {
      await psql(copy.url);
      expect(
        await copy.query(`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`),
      ).toEqual([{ relname: 't\ncreate table injected (); --' }]);
    } finally {
      await copy.drop();
    }
  });

  it.each([
    ['a view', 'create view v as select 1', 'view "v"'],
    ['a materialized view', 'create materialized view v as select 1 as n', 'materialized view "v"'],
    ['a partitioned table', 'create table p (a int) partition by list (a)', 'partitioned table "p"'],
    ['an inherited table', 'create table a (n int); create table b () inherits (a)', 'table of a special kind "a"'],
    ['an unlogged table', 'create unlogged table u (n int)', 'table of a special kind "u"'],
    [
      'row level security',
      'create table r (n int); alter table r enable row level security',
      'table of a special kind "r"',
    ],
    ['another schema', 'create schema other', 'schema "other"'],
    ['an enum', `create type mood as enum ('ok')`, 'type "mood"'],
    ['a domain', 'create domain short as text', 'type "short"'],
    ['a composite type', 'create type pair as (a int, b int)', 'composite type "pair"'],
    [
      'a generated column',
      'create table g (a int, b int generated always as (a + 1) stored)',
      'generated column "g.b"',
    ],
    ['a column of another collation', 'create table c (a text collate "C")', 'column of a special kind "c.a"'],
    ['a rule', 'create table r (n int); create rule x as on delete to r do nothing', 'rule "x"'],
    ['a policy', 'create table r (n int); create policy x on r', 'policy "x"'],
    ['statistics', 'create table r (n int, m int); create statistics x on n, m from r', 'statistics object "x"'],
    ['an exclusion', 'create table r (n int4range, exclude using gist (n with &&))', 'constraint of a special kind'],
    [
      'an aggregate',
      'create aggregate total (int) (sfunc = int4pl, stype = int)',
      'function of a special kind "total"',
    ],
    ['a procedure', `create procedure p() language sql as ''`, 'function of a special kind "p"'],
    ['a large object', 'select lo_create(4711)', 'large object "4711"'],
    ['a publication', 'create publication x', 'publication "x"'],
    [
      'a trigger that is off',
      `create table t (n int); create function f() returns trigger language plpgsql as 'begin return null; end';
       create trigger x before insert on t execute function f(); alter table t disable trigger x`,
      'trigger of a special kind "x"',
    ],
    ['an extension', 'create extension if not exists pgcrypto', 'extension "pgcrypto"'],
  ])('refuses a store with %s, instead of leaving it out', async (_what, sql, message) => {
    await store.query(sql);
    const failure = await dump().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DumpError);
    expect(String(failure)).toContain(message);
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    ['in the middle', 0],
    ['between two reads', 200],
  ])('fails when the store goes away %s, and says so', async (_when, pauseMs) => {
    await store.query(
      'create table big as select n, repeat(md5(n::text), 30) as text from generate_series(1, 60000) n',
    );
    const snapshot = await openSnapshot(store.url);
    const terminated = store.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskmesh-dump' and datname = current_database()`,
    );
    await setTimeout(pauseMs);
    const dumping = snapshot.read((client) => dumpStore({ client, path, policy: EVERYTHING }));
    await expect(dumping.then(() => snapshot.finish())).rejects.toThrow(/terminat/i);
    await terminated;
    snapshot.close();
  });
});
