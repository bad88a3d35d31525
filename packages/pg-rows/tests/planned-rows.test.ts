import { planDump } from './plan-dump.ts';

const WIDE = 'create table t (a text, b text, c text, d text, e text, f text, g text);';

/** The statements that PostgreSQL receives after the tables. */
const rowsOf = async (dump: string) => (await planDump(dump)).sql.filter((each) => !each.startsWith('create table'));

describe('the rows of a dump', () => {
  it.each([
    ["(1, -2, 1.5, -.5, +2.5, 0x1f, 1_000)", '(1,-2,1.5,-.5,(+ 2.5),31,1000)'],
    [`('it''s', E'a\\\\b', '', U&'d\\0061t', $$';$$, null, default)`, String.raw`('it''s', E'a\\b','','dat',''';',null,default)`],
    ["(true, false, b'101', x'fF', 1e99, '1e999', '-1e+09'::numeric)", "(true,false,b'101',x'fF',1e99,'1e999',cast('-1e+09' as numeric))"],
    ["('1'::int, cast('x' as text), 'ok'::mood, '{a}'::mood[], 'x'::varchar(3), 1::bigint, -1::int2)",
      "(cast('1' as int4),cast('x' as text),cast('ok' as text),cast('{a}' as text[]),cast('x' as varchar(3)),cast(1 as int8),(- cast(1 as int2)))"],
    ["(array[1, -2], array['a', null]::text[], array[array[1]], 1, 2, 3, 4)", "(array[1, -2],cast(array['a', null] as text[]),array[array[1]],1,2,3,4)"],
    ['(current_date, current_time, current_timestamp, localtime, localtimestamp, now(), 1)', '(current_date,current_time,current_timestamp,localtime,localtimestamp,now(),1)'],
    ['(pg_catalog.now(), clock_timestamp(), gen_random_uuid(), statement_timestamp(), transaction_timestamp(), 1, 2)',
      '(now(),clock_timestamp(),gen_random_uuid(),statement_timestamp(),transaction_timestamp(),1,2)'],
    ["('1e1310'::text, 1, 2, 3, 4, 5, 6)", "(cast('1e1310' as text),1,2,3,4,5,6)"], // only numbers are checked for their size
  ])('keep constants as written: %s', async (values, expected) => {
    expect(await rowsOf(`${WIDE} insert into t values ${values};`)).toEqual([`insert into restored.t (a, b, c, d, e, f, g) values ${expected};`]);
  }); // prettier-ignore

  it.each([
    '(1 + 1)', '(1 - 1)', '(~ 1)', '(operator(app.-) 2.5)', '(f())', '(app.now())', '(now(1))', '(array[f()])', '(- f())', '(current_user)', "('1'::int::text)",
    '((select 1))', '(a)', '($1)', '(case when true then 1 end)', '(f()::text)', '(row(1))', '(now() is null)', '(not true)', '(1 is null)', '(nullif(1, 2))',
    '(current_timestamp(2))', "(text 'x' || 'y')", '(greatest(1, 2))',
  ])('are rejected if they contain expressions: %s', async (values) => {
    await expect(planDump(`create table t (a text); insert into t values ${values};`)).rejects.toThrow('INSERT is allowed with constants only');
  }); // prettier-ignore

  it.each([
    ['(1e1000)', 'too large'], ['(1e-1000)', 'too large'], ['(1E+01000)', 'too large'], ["('1e1000'::numeric)", 'too large'],
    ["('1e1000'::numeric[])", 'too large'], ['(1, 2)', 'more expressions than target columns'], ['(1), (1, 2)', 'rows of different lengths'],
    ['(1) returning a', 'VALUES only'], ['(1) limit 1', 'VALUES only'], ['(1) order by 1', 'VALUES only'], ['(1) union values (2)', 'VALUES only'],
    ['(1) offset 1', 'VALUES only'], ['(1) on conflict (a) do update set a = 2', 'DO NOTHING only'],
  ])('are rejected if the values or clauses would change them: %s', async (values, message) => {
    await expect(planDump(`create table t (a text); insert into t values ${values};`)).rejects.toThrow(message);
  }); // prettier-ignore

  it.each([
    ['insert into t select 1;', 'INSERT is allowed with VALUES only'],
    ['with x as (select 1) insert into t values (1);', 'INSERT is allowed with VALUES only'],
    ['insert into t (nothing) values (1);', 'column "nothing" does not exist'],
    ['insert into t (a[1]) values (1);', 'column "a" does not exist'],
    ['insert into t (a, g) values (1, 2);', 'a generated column has no value of its own'],
    ['insert into t (g, a) values (1, default);', 'a generated column has no value of its own'],
    ['insert into t (a) values (default);', 'the default value of the column "a" was not loaded'],
    ['insert into t (b) values (1);', 'the column "a" is left out'],
    ['insert into nowhere values (1);', 'relation "nowhere" does not exist'],
    ['copy t (nothing) from stdin;\n', 'column "nothing" does not exist'],
    ['copy t (a, g) from stdin;\n', 'a generated column has no value of its own'],
    ['copy t (b) from stdin;\n', 'the column "a" is left out'],
    ["copy t from '/etc/passwd';\n", 'COPY is allowed FROM stdin only'],
    ["copy t from program 'ls';\n", 'COPY is allowed FROM stdin only'],
    ['copy (select 1) to stdout;\n', 'COPY is allowed FROM stdin only'],
    ['copy t from stdin where a > 1;\n', 'COPY with a condition'],
    ['copy t from stdin with (format csv);\n', 'COPY with the option format is not allowed'],
    ["copy t from stdin with (encoding 'SJIS');\n", 'COPY with the option encoding is not allowed'],
    ['copy t from stdin with (header false);\n', 'COPY with the option header is not allowed'],
  ])('are rejected with the reason: %s', async (statement, message) => {
    const table = 'create table t (a serial, b int, g int generated always as (b) stored);';
    await expect(planDump(`${table}\n${statement}`)).rejects.toThrow(`Line 2: ${message}`);
  });

  it.each([
    ['copy t from stdin', 'copy restored.t (a, b) from stdin with (format text)'],
    ['copy t (b, a) from stdin', 'copy restored.t (b, a) from stdin with (format text)'],
    ["copy t from stdin with (delimiter ',', null 'x', default 'd', header)", "copy restored.t (a, b) from stdin with (format text, delimiter ',', null 'x', default 'd', header)"],
    ['copy t from stdin with (header match)', 'copy restored.t (a, b) from stdin with (format text, header match)'],
    ['copy t from stdin with (header true)', 'copy restored.t (a, b) from stdin with (format text, header)'],
    ["copy t from stdin delimiter '|'", "copy restored.t (a, b) from stdin with (format text, delimiter '|')"],
  ])('are copied: %s', async (statement, expected) => {
    const table = 'create table t (a int, b int, g int generated always as (a) stored);';
    expect(await rowsOf(`${table} ${statement};\n1\t2\n\\.\n`)).toEqual([`${expected}: 1\t2`]);
  }); // prettier-ignore

  it('are inserted by column name or position, with defaults for omitted columns', async () => {
    const inserts = `insert into t values (1); insert into t (b) values (2); insert into t (b, g, a) values (1, default, default); insert into t values (1, 2, default) on conflict do nothing;
      insert into t overriding system value values (3, 4), (5, 6);`;
    const table = 'create table t (a int, b int, g int generated always as (a) stored, c int);';
    expect(await rowsOf(table + inserts)).toEqual([
      'insert into restored.t (a) values (1);',
      'insert into restored.t (b) values (2);',
      'insert into restored.t (b, a) values (1,default);',
      'insert into restored.t (a, b) values (1,2);',
      'insert into restored.t (a, b) values (3,4),(5,6);',
    ]);
  });

  it.each(['create table t (a int primary key);', 'create table t (a int); create unique index on t (a);'])(
    'are rejected if a constraint could exclude them: %s',
    async (table) => {
      expect(await rowsOf(`${table} insert into t values (1);`)).toEqual(['insert into restored.t (a) values (1);']);
      const late = planDump(`${table} insert into t values (1) on conflict do nothing;`);
      await expect(late).rejects.toThrow('ON CONFLICT is allowed only before the constraints of its table');
    },
  );

  it('are skipped for tables that are not loaded, and reported if the dump does not declare the table', async () => {
    const dump = `create table app.t (a int); copy app.t from stdin;\n1\n\\.\ninsert into app.t values (1); copy other.t from stdin;\n1\n\\.\ninsert into other.t values (1);`;
    const skipped = { 'data of an unknown table': 2, 'table outside of public': 1 };
    expect(await planDump(dump)).toEqual({ sql: [], skipped });
  });
});

describe('other statements of a dump', () => {
  it.each([
    [`set datestyle = 'ISO, DMY'; set DateStyle = iso, dmy; set timezone to 'UTC'; set time zone 5; set intervalstyle = iso_8601;`,
      [['datestyle', "'ISO, DMY'"], ['datestyle', "'iso, dmy'"], ['timezone', "'UTC'"], ['timezone', "'5'"], ['intervalstyle', "'iso_8601'"]]],
    ["set local datestyle = 'it''s'; reset datestyle; set timezone to default;", [['datestyle', "'it''s'"], ['datestyle', 'null'], ['timezone', 'null']]],
    ["select pg_catalog.set_config('DateStyle', '', false), set_config('timezone', 5, true); select * from set_config('timezone', 'UTC', false);",
      [['datestyle', "''"], ['timezone', "'5'"], ['timezone', "'UTC'"]]],
    ['reset all;', [['datestyle', 'null'], ['intervalstyle', 'null'], ['timezone', 'null']]],
  ])('apply settings that affect rows: %s', async (dump, settings) => {
    const expected = settings.map(([name, value]) => `select set_config('${name}', ${value}, true);`);
    expect((await planDump(dump)).sql.join(' ')).toBe(expected.join(' '));
  }); // prettier-ignore

  it.each([
    "set client_encoding = 'UTF8'; set client_encoding = 'utf-8'; set client_encoding = unicode; reset client_encoding; set client_encoding to default;",
    'set standard_conforming_strings = on; set standard_conforming_strings = true; set standard_conforming_strings = 1; reset standard_conforming_strings;',
    "set session authorization 'postgres'; set session authorization default; set work_mem = '1MB'; set row_security = off; set lock_timeout = -1; reset xmloption;",
    'begin; start transaction; commit; end; lock table t; set constraints all deferred; vacuum; analyze t; ; /* nothing */;',
    'create schema public; drop schema if exists app;',
    '\\restrict abc\n\\unrestrict abc\n\\restrict D4\n\\unrestrict D4\n',
  ])('are ignored if they have no effect: %s', async (dump) => {
    expect((await planDump(`${dump} create table t (a int);`)).sql).toEqual(['create table restored.t (a int4);']);
  });

  it.each([
    ["select setval('s', 5, true), pg_catalog.setval('s', 1);", { sequence: 2 }],
    ["select * from pg_catalog.pg_restore_relation_stats('version', 1); select pg_restore_attribute_stats();", { statistics: 2 }],
    ["select lo_create(1), lo_open(1, 2), lowrite(0, 'x'), lo_close(0); select lo_unlink(oid) from pg_largeobject_metadata;", { 'large object': 5 }],
    ['create materialized view m as select 1; refresh materialized view m;', { 'materialized view': 2 }],
    ['create type s; create type b (input = f, output = f); create type e as enum (); create domain d as int;', { type: 4 }],
    ['create aggregate a (int) (sfunc = f, stype = int); create collation c (locale = \'x\'); create operator + (leftarg = int, procedure = f);', { aggregate: 1, collation: 1, operator: 1 }],
    ['create schema app; create schema authorization me;', { schema: 2 }],
    ['drop table if exists u, v; drop schema app, public; drop view v;', { drop: 3 }],
    ['alter view v rename to w; alter view v set schema w; alter index i rename to j;', { 'change of a name': 3 }],
    ['create table app.t (a int); drop table t; drop view app.t;', { drop: 2, 'table outside of public': 1 }],
  ])('are reported as skipped: %s', async (dump, skipped) => {
    expect(await planDump(dump)).toEqual({ sql: [], skipped });
  }); // prettier-ignore

  it.each([
    ["set client_encoding = 'SJIS';", 'client_encoding cannot be "SJIS"'], ["set client_encoding = 'xutf8';", 'client_encoding cannot be'],
    ["set client_encoding = 'utf8x';", 'client_encoding cannot be'], ['set standard_conforming_strings = off;', 'standard_conforming_strings cannot be "off"'],
    ['set x.y = 1;', 'the setting "x.y" is not allowed'], ['set role me;', 'the setting "role" is not allowed'], ['reset role;', 'the setting "role" is not allowed'],
    ["select set_config('role', 'me', false);", 'the setting "role" is not allowed'], ['set datestyle from current;', 'SET or RESET of datestyle'],
    ['set transaction isolation level serializable;', 'SET or RESET of TRANSACTION'], ["set time zone interval '1' hour to minute;", 'with constants only'],
    ["select set_config('x' || 'y', '', false);", 'with constants only'], ['select 1;', 'queries are not allowed'], ['select;', 'queries are not allowed'],
    ['values (1);', 'queries are not allowed'], ['table t;', 'queries are not allowed'], ["select setval('s', 1), 2;", 'queries are not allowed'],
    ["select * from setval('s', 1), t;", 'queries are not allowed'], ["select app.setval('s', 1);", 'queries are not allowed'],
    ["select set_config('datestyle', 'ISO', false) from t;", 'queries are not allowed'], ["select set_config('datestyle', 'ISO', false) where false;", 'queries are not allowed'],
    ["select set_config('datestyle', 'ISO', false) limit 0;", 'queries are not allowed'], ['select f();', 'the function "f" is not allowed'],
    ['rollback;', 'only BEGIN and COMMIT'], ['savepoint s;', 'only BEGIN and COMMIT'], ["prepare transaction 'x';", 'only BEGIN and COMMIT'],
    ['create schema app create table t (a int);', 'with a name only'], ['update t set a = 1;', 'UpdateStmt is not allowed'], ['call f();', 'CallStmt is not allowed'],
    ["do $$ begin perform f(); end $$;", 'DoStmt is not allowed'], ['create role mallory superuser;', 'CreateRoleStmt is not allowed'],
    ['delete from t;', 'DeleteStmt is not allowed'], ['truncate t;', 'TruncateStmt is not allowed'], ['alter system set work_mem = 64;', 'AlterSystemStmt is not allowed'],
    ['selec;', 'it is not SQL'], ['\\restrict a\n\\restrict b\n', 'Line 1 is a command'], ['\\restrict a\n\\unrestrict b\n', 'Line 1 is a command'], ['\\unrestrict a\n', 'Line 1 is a command'],
    ['\\restrict a b\n', 'command for psql'], ['\\xrestrict a\n', 'command for psql'], ['\\i x\n', 'command for psql'],
    ["create table t (a int); select ';' \\g | touch x\n;", 'not SQL'],
  ])('are rejected if they are not allowed: %s', async (dump, message) => {
    await expect(planDump(dump)).rejects.toThrow(message.replace('Line 1 is', 'is'));
  }); // prettier-ignore
});
