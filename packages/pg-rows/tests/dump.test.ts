import { createTestDatabase, makeTempDir, type TestDatabase } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { countOmitted, dumpDatabase, DumpError, openSnapshot } from '../src/index.ts';
import { createLoading, withClient } from './loading.ts';

/** One of each kind of object that a dump can contain, with difficult names and values. */
const FULL_SCHEMA = `
  create function public.only_grows() returns trigger language plpgsql as $$
  begin
    raise exception 'it only grows; $ and '' and ";"';
  end $$;
  create function public.one() returns integer language sql immutable as 'select 1';
  create sequence free_numbers as smallint start with 7 increment by 3 maxvalue 100 cycle;
  select nextval('free_numbers'), nextval('free_numbers');
  create table people (
    id uuid primary key,
    email text not null unique,
    "Odd ""name" integer default one() check ("Odd ""name" < 10),
    born date
  ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
  comment on table people is 'it''s; a -- comment';
  comment on column people.email is 'back\\slash';
  create table "select" (
    id bigserial primary key,
    owner uuid references people (id) on delete cascade,
    body json, other jsonb, bytes bytea, number numeric(12, 3), ratio double precision, truth boolean,
    at timestamptz(3), lasting interval, words text[], name varchar(20) default 'x',
    constraint "in order" unique (owner, id) deferrable
  );
  create index "some index" on "select" (at desc, lower(name)) where truth;
  comment on index "some index" is 'a comment';
  create table audit (id bigint generated always as identity primary key, what text not null);
  create trigger only_grows before update or delete or truncate on audit for each statement execute function only_grows();
  create table "t\ncreate table injected (); --" (n int);
  create index "i\n;drop table people" on "t\ncreate table injected (); --" (n);
  create table unchecked (n int);
  insert into unchecked values (-1);
  alter table unchecked add constraint later check (n > 0) not valid;
  insert into people values ('00000000-0000-7000-8000-000000000001', 'a@x', 3, '0044-03-15 BC'), ('00000000-0000-7000-8000-000000000002', E'\\\\.', null, null);
  insert into "select" (owner, body, other, bytes, number, ratio, truth, at, lasting, words, name)
  select '00000000-0000-7000-8000-000000000001', '{"a":  1}', '{"b": [null]}', decode('00ff5c', 'hex'), 123456789.125, 0.1::float8 + 0.2, true,
    '2026-11-21 10:00:00.123+00', '1 year 2 days 03:04:05', array['a,b', null, E'"\\\\'], text
  from unnest(array['plain', E'tab\\there', E'line\\nbreak', E'\\\\.', E'\\r', '', null, 'ünïcödé 🙂', E'\\\\N', 'COPY x;']) as text;
  insert into audit (what) select 'n ' || n from generate_series(1, 50) n;
`;

const FULL_TABLES = ['people', '"select"', 'audit', 'unchecked'];

const run = promisify(execFile);
const PSQL = '/usr/bin/psql';

const dir = makeTempDir();
let path: string;
let store: TestDatabase;
let count = 0;

beforeEach(async () => {
  store = await createTestDatabase('dump');
  path = join(dir, `${(count += 1)}.sql`);
});

async function begin() {
  const client = new Client({ connectionString: store.url, application_name: 'dump' });
  await client.connect();
  return openSnapshot(client);
}

async function dump(meanwhile?: () => Promise<unknown>) {
  const snapshot = await begin();
  try {
    await meanwhile?.();
    const result = await snapshot.read((client) => dumpDatabase({ client, path }));
    await snapshot.finish();
    return result;
  } finally {
    snapshot.close();
  }
}

type Ask = (text: string) => Promise<Record<string, unknown>[]>;

/** All rows as text, sorted. */
const rowsOf = (ask: Ask, schema = 'public') =>
  Promise.all(FULL_TABLES.map((table) => ask(`select t::text as row from ${schema}.${table} t order by 1`)));
const SEQUENCES = `select sequencename, last_value from pg_sequences order by 1`;

/** The schema of a database as PostgreSQL describes it. */
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

describe('dumping a store', () => {
  it('writes a dump from which psql restores the same rows and schema, and the loader the rows, and reports its contents', async () => {
    await store.query(FULL_SCHEMA);
    const { sha256, sizeBytes, rows, serverVersion } = await dump();
    const text = await readFile(path);
    expect([sha256, sizeBytes]).toEqual([createHash('sha256').update(text).digest('hex'), text.length]);
    expect(rows).toMatchObject({ people: 2, select: 10, audit: 50, unchecked: 1 });
    expect(serverVersion).toMatch(/^\d+\.\d+/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const whole = /^--\n-- PostgreSQL database dump\n--\n[^]*-- PostgreSQL database dump complete\n--\n+$/;
    expect(text.toString()).toMatch(whole);
    const copy = await createTestDatabase('copy');
    expect((await psql(copy.url)).stderr).toBe('');
    expect(await rowsOf(copy.query)).toEqual(await rowsOf(store.query));
    expect(await copy.query(SEQUENCES)).toEqual(await store.query(SEQUENCES));
    expect(await schemaOf(copy.query)).toEqual(await schemaOf(store.query));
    const fresh = await createLoading('dumpload');
    expect(await fresh.load(text)).toMatchObject({ copiedRows: 63 });
    expect(await rowsOf(fresh.query, 'restored')).toEqual(await rowsOf(store.query));
  });

  it('dumps the store as of one moment, without concurrent writes', async () => {
    await store.query('create table one as select 1 as n; create table two as table one');
    const { rows } = await dump(() => store.query('delete from one; insert into two select generate_series(2, 100)'));
    expect(rows).toEqual({ one: 1, two: 1 });
  });

  it.each([
    [
      'unsupported tables and large objects',
      `create table p (a int) partition by list (a); create table a (n int); create table b () inherits (a);
       create schema other; create table other.t (n int); select lo_create(4711)`,
      [
        'partitioned table "p"',
        'table of a special kind "b"',
        'table of another schema "other.t"',
        'large object "4711"',
      ],
    ],
    [
      'columns of user-defined types and generated columns',
      `create type mood as enum ('ok'); create domain short as text; create extension hstore;
       create table t (m mood, s short, h hstore, a int, b int generated always as (a + 1) stored)`,
      [...['m', 's', 'h'].map((name) => `column with a type of its own "t.${name}"`), 'generated column "t.b"'],
    ],
  ])('refuses a store with %s rather than omitting rows', async (_what, sql, named) => {
    await store.query(sql);
    const failure = await dump().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DumpError);
    for (const each of named) expect(String(failure)).toContain(each);
    expect(existsSync(path)).toBe(false);
  });

  it('dumps a store with many kinds of other objects, and counts those that are omitted', async () => {
    const extensions = ['pg_stat_statements', 'pgcrypto', 'uuid-ossp', 'citext', 'pg_trgm', 'hstore', 'btree_gist', 'unaccent', 'intarray', 'postgres_fdw', 'dblink', 'pg_buffercache', 'tablefunc', 'lo']; // prettier-ignore
    await store.query(`
      ${extensions.map((name) => `create extension "${name}";`).join(' ')}
      create table kept (n int primary key, what text); insert into kept values (1, 'one'), (2, 'two');
      create table other (n int); alter extension tablefunc add table other;
      alter table kept add column u uuid default uuid_generate_v4(), add check (similarity(what, 'x') >= 0), add column o oid;
      create index on kept using gin (what gin_trgm_ops); create index on kept ((what::citext));
      create trigger away before update or delete on kept for each row execute function lo_manage(o);
      comment on index kept_what_idx is 'a comment'; comment on extension lo is 'another';
      create view v as select * from kept; create materialized view m as select 1 as n; create index on m (n); comment on view v is $$x$$;
      alter table kept enable row level security; create policy x on kept;
      create type mood as enum ('ok'); create domain short as text; create type pair as (a int, b int);
      create aggregate total (int) (sfunc = int4pl, stype = int); create procedure p() language sql as '';
      alter table kept add column r int4range, add exclude using gist (r with &&); create rule x as on delete to kept do nothing;
      create unlogged table u (n int, a text collate "C"); create statistics x on n, what from kept; create publication y;
      create function f() returns trigger language plpgsql as 'begin return null; end';
      create trigger x before insert on kept execute function f(); alter table kept disable trigger x;
      create schema other`);
    const { rows } = await dump();
    expect(rows).toEqual({ kept: 2, u: 0 });
    expect(await withClient(store.url, countOmitted)).toEqual({
      ...{ extension: extensions.length, view: 2, policy: 1, type: 3, function: 2, publication: 1 },
      'statistics object': 1,
    });
    const copy = await createTestDatabase('copy');
    await psql(copy.url);
    const kept = 'select n, what from kept order by n';
    expect(await copy.query(kept)).toEqual(await store.query(kept));
  });

  it.each([true, false])(
    'fails with a reason when the store becomes unavailable during a read: %j',
    async (isDuring) => {
      await store.query('create table big as select repeat(md5(n::text), 30) as text from generate_series(1, 60000) n');
      const snapshot = await begin();
      const terminate = () =>
      store.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'dump' and datname = current_database()`); // prettier-ignore
      if (!isDuring) await terminate();
      const dumping = snapshot.read((client) =>
        dumpDatabase({ client, path, onWritten: async () => void (await terminate()) }),
      );
      await expect(dumping.then(() => snapshot.finish())).rejects.toThrow(/terminat/i);
      snapshot.close();
    },
  );
});
