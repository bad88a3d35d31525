import { planDump } from './plan-dump.ts';

describe('the tables of a dump', () => {
  it.each([
    ['have their columns, without constraints',
      `create table t (a int primary key, b text default 'x' not null, c int null references t (a), check (a > 0), unique (a));`,
      ["create table restored.t (a int4, b text default 'x', c int4);"]],
    ['have built-in types or text',
      `create table t (a int[], b int[][], c setof text, d mood, e mood[], f public.text, g pg_catalog.int4, h varchar(5), i numeric(10, 2),
        j char(5), k bit(3), l time(3), m timestamp(2) with time zone, n double precision, o interval day, p numeric(5), "Q q" uuid, r interval(0), s interval day to second (3));`,
      ['create table restored.t (a int4[], b int4[], c text[], d text, e text[], f text, g int4, h varchar(5), i numeric(10, 2), j bpchar, k bit, l time(3), m timestamptz(2), n float8, o interval(8), p numeric(5), "Q q" uuid, r interval(32767, 0), s interval(7176, 3));']],
    ['get integer columns for serial types',
      'create table t (a serial, b bigserial, c serial2, d pg_catalog.serial);',
      ['create table restored.t (a int4, b int8, c int2, d text);']],
    ['get the base types of domains, with unqualified names resolved',
      `create domain app.short as varchar(20); create domain lang as app.short[];
       create table t (a app.short, b app.short[], c short, d lang, e lang[]);`,
      ['create table restored.t (a varchar(20), b varchar(20)[], c text, d varchar(20)[], e text);']],
    ['omit generated columns and defaults that call functions',
      `create table t (a int generated always as identity, b int generated always as (a + 1) stored, c int default f(), d int default 1);`,
      ['create table restored.t (a int4, c int4, d int4 default 1);']],
    ['get the columns of a LIKE clause',
      'create table t (a int default 1, b serial, c int); create table u (like t, d int); insert into u values (1, 2, 3, 4); insert into u (a, b) values (1, 2);',
      ['create table restored.t (a int4 default 1, b int4, c int4);', 'create table restored.u (a int4, b int4, c int4, d int4);',
        'insert into restored.u (a, b, c, d) values (1,2,3,4);', 'insert into restored.u (a, b) values (1,2);']],
    ['are not created again if they exist',
      'create table if not exists t (a int); create table if not exists t (a int, b int);',
      ['create table restored.t (a int4);']],
    ['are skipped with their rows if they are temporary or in other schemas',
      `create table app.t (a int); insert into app.t values (1); create temp table w (a int); insert into w values (2);
       alter table app.t add b int; alter table app.t alter a set default 1;`,
      []],
    ['are in the first schema of search_path if their names are unqualified',
      `set search_path = "$user", pg_catalog, app, public; create table t (a int); set search_path = ''; create table t (a int); reset search_path;
       insert into t values (1); select pg_catalog.set_config('SEARCH_PATH', ' "app", public', false); insert into t values (2);`,
      ['create table restored.t (a int4);', 'insert into restored.t (a) values (1);']],
    ['keep their partitions and children',
      `create table p (a int) partition by range (a); create table c partition of p (a default 3) for values from (1) to (2);
       create table d (a int); alter table p attach partition d default; create table e (b int) inherits (d); create table f (a int); alter table f inherit p;`,
      ['create table restored.p (a int4);', 'create table restored.c (a int4 default 3);  alter table restored.c inherit restored.p;', 'create table restored.d (a int4);',
        'alter table restored.d inherit restored.p;', 'create table restored.e (a int4, b int4);  alter table restored.e inherit restored.d;', 'create table restored.f (a int4);',
        'alter table restored.f inherit restored.p;']],
    ['include partitions and children in any schema if the parent is loaded',
      `create table app.g (a int default 1); create table app.c (b int) inherits (app.g); create table app.other (a int); alter table app.g add x int;
       create table p (a int); alter table app.g inherit p; insert into app.c values (1);`,
      ['create table restored.p (a int4);',
        'create table restored."app.g" (a int4 default 1, x int4); create table restored."app.c" (a int4 default 1, b int4);  alter table restored."app.c" inherit restored."app.g"; alter table restored."app.g" inherit restored.p;',
        'insert into restored."app.c" (a) values (1);']],
    ['are altered if the change affects rows',
      `create table t (a serial, b int default 2, g int generated always as (a) stored); alter table t add column c text default 'y', alter b drop default;
       alter table only t alter a set default 7, alter nothing set default 1; alter table t alter g set default 8, add h int generated always as (a) stored;
       alter table t alter a add generated always as identity; insert into t values (1, 2, default, 'x', default); alter table t alter a set default 9;`,
      ['create table restored.t (a int4, b int4 default 2);', "alter table restored.t add column c text default 'y'; alter table restored.t alter column b set default null;",
        'alter table restored.t alter column a set default 7;', 'alter table restored.t alter column a set default null;',
        "insert into restored.t (a, b, c) values (1,2,'x');", 'alter table restored.t alter column a set default 9;']],
  ])('%s', async (_what, dump, sql) => expect((await planDump(dump)).sql).toEqual(sql)); // prettier-ignore

  it.each([
    ['constraints', 'create table t (a int primary key, b int not null null unique, check (a > 0));', { constraint: 3 }],
    ['defaults', 'create table t (a int default f(), b int generated by default as identity);', { default: 2 }],
    ['generated columns', 'create table t (a int generated always as (1) stored);', { 'generated column': 1 }],
    ['tables in other schemas', 'create table a.t (a int); create table b.t (a int);', { 'table outside of public': 2 }],
    ['statements that do not affect rows', `create table t (a int); alter table t add constraint c check (true), add primary key using index i, owner to me,
      enable row level security, force row level security, set (fillfactor = 10), cluster on i;`,
      { constraint: 2, owner: 1, 'row level security': 2, 'option of a table': 2 }],
    ['changes of other objects', 'alter view v owner to me; alter index i set (fillfactor = 1); alter table t drop column a;', { owner: 1, 'option of a table': 2 }],
    ['unknown parts', 'create table p (a int); alter table p attach partition app.c default; alter index i attach partition j;', { 'option of a table': 2 }],
  ])('report skipped statements: %s', async (_what, dump, skipped) => {
    expect((await planDump(dump)).skipped).toEqual(skipped);
  }); // prettier-ignore

  it.each([
    ['create table t (a int); create table t (a int);', 'relation "t" already exists'],
    ['create table t of mood;', 'of a composite type'],
    ['create table t (like u);', 'relation "u" does not exist'],
    ['create table t (a int); alter table t inherit p;', 'relation "p" does not exist'],
    ['create table t (a int default 1); create table u (like t, b int); insert into u (b) values (2);', '"a" is left out'],
    ['create table t (a timestamptz default app.now(), b int); insert into t (b) values (1);', '"a" is left out'],
    ['create domain d as int default 3; create table t (a d, b int); insert into t (b) values (2);', '"a" is left out'],
    ['create table t (a int, b int); alter table t alter a add generated always as identity; insert into t (b) values (1);', '"a" is left out'],
    ['create table app.c (a int); insert into app.c values (1); create table p (a int); alter table app.c inherit p;', 'after its rows were skipped'],
    ['create table t (a int); alter table t add b int default f();', 'whose default value cannot be loaded'],
    ['create table t (a int); alter table t add a int;', 'added twice'],
    ['create table t (a int); alter table t alter a type text;', 'cannot be changed in that way'],
    ['create table t (a int); alter table t drop a;', 'cannot be changed in that way'],
    ['create table t (a int); alter table t detach partition u;', 'cannot be changed in that way'],
    ['create table t (a int); alter table t alter a set expression as (1);', 'cannot be changed in that way'],
    ['set search_path = app; create table t (a int); drop table t;', 'a table of the dump cannot be dropped'],
    ['create table app.t (a int); drop schema app;', 'a schema of the dump cannot be dropped'],
    ['create table t (a int); alter table t rename to u;', 'cannot be renamed'],
    ['create table t (a int); alter table t rename a to b;', 'cannot be renamed'],
    ['create table t (a int); alter table t set schema app;', 'cannot be renamed'],
    ['alter domain d rename to b;', 'cannot be renamed'],
    ['create table t as select 1 as a;', 'CreateTableAsStmt is not allowed'],
    [Array.from({ length: 1_001 }, (_, n) => `create table t${n} ();`).join('\n'), 'Line 1001: it has more than 1000 tables'],
  ])('are rejected if their rows would differ: %s', async (dump, message) => {
    await expect(planDump(dump)).rejects.toThrow(message);
  }); // prettier-ignore

  it('are limited to the number that the server can lock, counting only created tables', async () => {
    const create = (name: string) => Array.from({ length: 1_000 }, (_, n) => `create table ${name}${n} ();`).join('\n');
    expect((await planDump(`${create('app.t')}\n${create('t')}`)).sql).toHaveLength(1_000);
  });
});
