import { createLoading } from './loading.ts';

const { url, query, check } = await createLoading('bare');
await query('create table restored.t (a int, b text default now()::text, c int[])');

describe('a database into which a dump was loaded', () => {
  it('may contain tables with columns of built-in types, their defaults and their rows', async () => {
    await query(`insert into restored.t values (1, 'x', '{1}')`);
    await expect(check()).resolves.toBeUndefined();
  });

  it.each([
    ['function', 'create function restored.f() returns int language sql as $$ select 1 $$', 'drop function restored.f'],
    [
      'trigger',
      'create trigger x before update on restored.t for each row execute function suppress_redundant_updates_trigger()',
      'drop trigger x on restored.t',
    ],
    ['rule', 'create rule x as on delete to restored.t do instead nothing', 'drop rule x on restored.t'],
    ['policy', 'create policy x on restored.t', 'drop policy x on restored.t'],
    ['constraint', 'alter table restored.t add constraint x check (a > 0)', 'alter table restored.t drop constraint x'],
    ['default', 'create table public.t (a int default 1)', 'drop table public.t'],
    [
      'operator',
      'create operator restored.=== (leftarg = int, rightarg = int, function = int4eq)',
      'drop operator restored.=== (int, int)',
    ],
    [
      'operator class',
      'create operator class restored.x for type int using btree as operator 1 <, function 1 btint4cmp(int, int)',
      'drop operator family restored.x using btree cascade',
    ],
    ['cast', 'create cast (text as bytea) without function', 'drop cast (text as bytea)'],
    [
      'conversion',
      `create conversion restored.x for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1`,
      'drop conversion restored.x',
    ],
    ['collation', 'create collation restored.x from "C"', 'drop collation restored.x'],
    [
      'text search configuration',
      'create text search configuration restored.x (copy = english)',
      'drop text search configuration restored.x',
    ],
    [
      'text search dictionary',
      'create text search dictionary restored.x (template = simple)',
      'drop text search dictionary restored.x',
    ],
    ['extension', 'create extension tablefunc', 'drop extension tablefunc'],
    ['language', 'create language x handler plpgsql_call_handler', 'drop language x'],
    [
      'event trigger',
      `create function restored.f() returns event_trigger language plpgsql as 'begin end';
       create event trigger x on ddl_command_end execute function restored.f()`,
      'drop event trigger x; drop function restored.f',
    ],
    ['publication', 'create publication x', 'drop publication x'],
    ['statistics object', 'create statistics restored.x on a, b from restored.t', 'drop statistics restored.x'],
    ['schema', 'create schema app', 'drop schema app'],
    [
      'foreign server',
      'create foreign data wrapper w; create server x foreign data wrapper w',
      'drop foreign data wrapper w cascade',
    ],
    ['setting', 'alter database $FRESH set work_mem = 64', 'alter database $FRESH reset all'],
    ['large object', 'select lo_create(4711)', 'select lo_unlink(4711)'],
    ['relation', 'create view restored.v as select 1 as a', 'drop view restored.v'],
    ['relation', 'create index x on restored.t (a)', 'drop index restored.x'],
    ['relation', 'create table public.t (a int)', 'drop table public.t'],
    [
      'type',
      'create domain restored.d as int; alter table restored.t add d restored.d',
      'alter table restored.t drop column d; drop domain restored.d',
    ],
  ])('is rejected if it contains a %s: %s', async (kind, make, drop) => {
    const fresh = new URL(url).pathname.slice(1);
    await query(make.replace('$FRESH', fresh));
    await expect(check()).rejects.toThrow(new RegExp(`more than tables: .*1 × ${kind}[,.]`));
    await query(drop.replace('$FRESH', fresh));
    await expect(check()).resolves.toBeUndefined();
  });
});
