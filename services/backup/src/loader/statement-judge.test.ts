import { createStatementJudge, type StatementJudge } from './statement-judge.ts';

let judge: StatementJudge;
beforeAll(async () => (judge = await createStatementJudge()));
afterAll(() => judge.close());

const kindOf = async (text: string) => (await judge.judge([text]))[0]?.kind;

describe('the judge of statements', () => {
  it.each([
    'create table t (id int primary key);',
    'insert into t values (1);',
    "set client_encoding = 'UTF8';",
    'set standard_conforming_strings = on;',
    "select pg_catalog.set_config('search_path', '', false);",
    "select pg_catalog.setval('public.s', 5, true);",
    "select setval('s'::regclass, 5);",
    'create function f() returns int language plpgsql as $$ begin return 1; end $$;',
    'create function f() returns int begin atomic select 1; end;',
    'do $$ begin end $$;',
    'create extension if not exists "uuid-ossp" with schema public;',
    'alter table only t add constraint p primary key (id);',
    'create unique index on t (a);',
    'drop table if exists t;',
  ])('lets %j run', async (text) => {
    expect(await kindOf(text)).toBe('run');
  });

  it.each(['copy t (a, b) from stdin;', "copy t from stdin with (format text, null 'x');"])(
    'takes the data of %j',
    async (text) => {
      expect(await kindOf(text)).toBe('copy');
    },
  );

  it.each([
    ';',
    '-- a comment\n;',
    'set statement_timeout = 0;',
    'set session_replication_role = replica;',
    'alter table t owner to postgres;',
    'alter function f() owner to postgres;',
    'grant all on t to public;',
    'revoke all on schema public from public;',
    "comment on table t is 'x';",
    'begin;',
    'commit;',
    'create index on t (a);',
    'alter table t add constraint f foreign key (a) references u (a);',
    'create extension plpgsql;',
    'vacuum analyze;',
  ])('passes over %j', async (text) => {
    expect(await kindOf(text)).toBe('skip');
  });

  it.each([
    "copy t from program 'touch /tmp/x';",
    "copy t to program 'touch /tmp/x';",
    "copy t from '/etc/passwd';",
    'copy t to stdout;',
    'copy (select 1) to stdout;',
    'copy t from stdin with (format csv);',
    "copy t from stdin with (encoding 'SJIS');",
    'create extension plpython3u;',
    'create extension dblink;',
    'create language plpython3u;',
    "create function f() returns int language c as '/lib/x.so', 'f';",
    "create function f() returns int language internal as 'int4pl';",
    'do language plpython3u $$ x $$;',
    'alter system set archive_command = $$x$$;',
    'create role r superuser;',
    'alter role postgres password $$x$$;',
    'set role postgres;',
    'set session authorization postgres;',
    'reset all;',
    "select set_config('role', 'postgres', false);",
    "select set_config('SEARCH_PATH'||'x', '', false);",
    "set client_encoding = 'SJIS';",
    'set standard_conforming_strings = off;',
    "select set_config('standard_conforming_strings', 'off', false);",
    "select lo_export(1, '/tmp/x');",
    'select pg_sleep(1);',
    "select setval('s', (select 1));",
    'select 1 from t;',
    'with x as (select 1) select * from x;',
    'create database d;',
    'drop database d;',
    'drop role r;',
    'rollback;',
    "prepare transaction 'x';",
    'explain analyze select 1;',
    'call f();',
    'listen x;',
    'load $$x$$;',
    'create server s foreign data wrapper w;',
    "create subscription s connection 'x' publication p;",
    'checkpoint;',
    'select 1; select 2;',
    'selec 1;',
    '\\! ls',
    'select 1 \\g | sh',
    `select ${'1+'.repeat(30_000)}1;`,
    `select ${'('.repeat(100_000)}1${')'.repeat(100_000)};`,
  ])('refuses %.60j', async (text) => {
    expect(await kindOf(text)).toBe('refuse');
  });

  it('works again in a new thread after statements that were too much for the parser', async () => {
    for (let time = 0; time < 3; time++) expect(await kindOf(`select ${'1+'.repeat(30_000)}1;`)).toBe('refuse');
    await judge.close();
    judge = await createStatementJudge();
    expect(await kindOf('insert into t values (1);')).toBe('run');
  });

  it('refuses what is under way when it is closed', async () => {
    const other = await createStatementJudge();
    const verdict = other.judge([`select ${'1+'.repeat(30_000)}1;`]);
    await other.close();
    expect((await verdict)[0]?.kind).toBe('refuse');
    expect((await other.judge(['select 1;']))[0]?.kind).toBe('refuse');
  });
});
