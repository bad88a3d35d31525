import { createLoading, genuineDump } from './loading.ts';

const { url, load, query, check, clear } = await createLoading('load');

describe('loading a dump', () => {
  beforeEach(clear);

  it('loads only tables and rows of dumps of pg_dump, with and without restrict lines, and counts what it skips', async () => {
    const dump = await genuineDump();
    expect(dump).toContain('\\restrict');
    const { copiedRows, skipped } = await load(dump);
    await check();
    expect(await query('select count(*)::int as n from restored.tasks')).toEqual([{ n: 23 }]);
    const unusual = `description = '\\.' or description like E'\\r%' or description = E'\\restrict ABC'`;
    expect(await query(`select 1 from restored.tasks where ${unusual}`)).toHaveLength(3);
    const columns = `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = 'restored.tasks'::regclass and attname in ('priority', 'n', 'created_at') order by 1`;
    expect(await query(columns)).toEqual([{ name: 'created_at', type: 'timestamp with time zone' }, { name: 'priority', type: 'text' }]); // prettier-ignore
    expect(Object.fromEntries(skipped.map(({ kind, count }) => [kind, count]))).toEqual({
      'collation': 1, 'comment': 3, 'constraint': 6, 'default': 2, 'extension': 2, 'function': 2, 'generated column': 1, 'index': 2,
      'materialized view': 2, 'operator': 1, 'owner': 16, 'policy': 1, 'row level security': 1, 'rule': 1, 'schema': 1,
      'sequence': 4, 'statistics': 1, 'trigger': 1, 'type': 2, 'view': 1,
    }); // prettier-ignore

    await clear();
    expect(await load(dump.replaceAll(/^\\(un)?restrict .*\n/gm, ''))).toMatchObject({ copiedRows });
  });

  it('loads rows of partitions and inheriting tables into their parents, in any schema', async () => {
    await load(`
      create schema parts; create table tasks (id int, title text) partition by range (id);
      create table parts.low (id int, title text); create table parts.other (id int);
      create table high partition of tasks for values from (100) to (200);
      alter table only tasks attach partition parts.low for values from (0) to (100);
      create table more (note text) inherits (tasks);
      copy parts.low (id, title) from stdin with (format text);
1\tlow
\\.
      copy parts.other from stdin;
9
\\.
      insert into high values (100, 'high'); insert into more (id, title, note) values (300, 'more', 'x');`);
    expect(await query('select id, title from restored.tasks order by id')).toEqual([
      { id: 1, title: 'low' },
      { id: 100, title: 'high' },
      { id: 300, title: 'more' },
    ]);
    await check();
  });

  it('loads constants as written, and constant defaults', async () => {
    await load(`
      create type mood as enum ('ok'); create domain short as varchar(20) check (value <> '');
      create table t (id int, a text default 'x', m mood, ms mood[], s short, n numeric(10,2), b bytea, at timestamptz default now(),
        g int generated always as (id + 1) stored, ok boolean default false, u uuid default gen_random_uuid());
      insert into t (id, a, m, ms, s, n, b, at) values
        (1, e'a\\tb', 'ok'::mood, '{ok}'::mood[], cast('s' as short), -1.255, '\\xff'::bytea, '2026-01-01T00:00Z'::timestamptz),
        (-2, $$'$$, null, array['ok'::mood], 'ü', +1, null, default);
      insert into t values (3, default, null, null, null, null, null, '2026-01-01', default) on conflict do nothing;`);
    const rows = `select id, a, m, ms, s, n, b::text, at > now() - interval '1 h' as recent, ok, u is not null as u from restored.t order by id`;
    expect(await query(rows)).toEqual([
      { id: -2, a: "'", m: null, ms: ['ok'], s: 'ü', n: '1.00', b: null, recent: true, ok: false, u: true },
      { id: 1, a: 'a\tb', m: 'ok', ms: ['ok'], s: 's', n: '-1.26', b: '\\xff', recent: false, ok: false, u: true },
      { id: 3, a: 'x', m: null, ms: null, s: null, n: null, b: null, recent: expect.any(Boolean), ok: false, u: true },
    ]);
  });

  it('creates ordinary columns for types that pad values or look something up', async () => {
    await load(`
      create table t (a char(10000000), b bit(80000000), c bit(9)[], d regclass, e pg_catalog.regrole, f xml, g oidvector);
      copy t from stdin;\nx\t101\t{101}\tnowhere\tpostgres\t<a>\tx\n\\.\n`);
    const types = `select format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = 'restored.t'::regclass and attnum > 0 order by attnum`;
    expect((await query(types)).map(({ type }) => type)).toEqual(['bpchar', '"bit"', '"bit"[]', 'text', 'text', 'text', 'text']); // prettier-ignore
    expect(await query('select a, b::text, d, e from restored.t')).toEqual([{ a: 'x', b: '101', d: 'nowhere', e: 'postgres' }]); // prettier-ignore
  });

  it('keeps the precision of intervals, and checks the columns that a COPY names', async () => {
    await load(`create table t (a interval(0), b interval day); insert into t values ('1.7 s', '2 days 5 h');`);
    expect(await query('select a::text, b::text from restored.t')).toEqual([{ a: '00:00:02', b: '2 days' }]);
    const swapped = 'create table u (a int, b int); copy u from stdin with (header match);\nb\ta\n1\t2\n\\.\n';
    await expect(load(swapped)).rejects.toThrow('column name mismatch in header line');
  });

  it('preserves strings on a server that interprets backslashes in all of them', async () => {
    const name = new URL(url).pathname.slice(1);
    await query(`alter database "${name}" set standard_conforming_strings = off`);
    const text = `\\'; drop table restored.t; --`;
    await load(`
      create table t (a text, b text default '${text.replace("'", "''")}');
      insert into t values ('${text.replace("'", "''")}', '\\n'), ($$${text}$$, default);`);
    expect(await query('select a, b from restored.t')).toEqual([{ a: text, b: '\\n' }, { a: text, b: text }]); // prettier-ignore
    await query(`alter database "${name}" reset all`);
  });

  it('loads an INSERT of a hundred thousand rows in pieces', async () => {
    const rows = Array.from({ length: 100_000 }, (_, index) => `(${index}, 'it''s, number (${index}')`);
    const insert = `insert into "values" (id, name) values ${rows.join(',\n')};`;
    await load(`create table "values" (id int, name text);\n${insert}`);
    const loaded = 'select count(*)::int as n, max(id) as last, max(length(name)) as long from restored."values"';
    expect(await query(loaded)).toEqual([{ n: 100_000, last: 99_999, long: 19 }]);
  });
});
