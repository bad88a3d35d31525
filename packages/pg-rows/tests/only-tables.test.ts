import { checkOnlyTables } from '../src/index.ts';
import { createLoading, withClient } from './loading.ts';

const { url, query, check } = await createLoading('bare');
await query('create table restored.t (a int, b text default now()::text, c int[])');
await query(`insert into restored.t values (1, 'x', '{1}')`);

it('a database into which a dump was loaded may contain tables with columns of built-in types, their defaults and rows', () =>
  expect(check()).resolves.toBeUndefined());

it.each([
  ['function', 'create function restored.f() returns int language sql as $$ select 1 $$'],
  ['trigger', 'create trigger x before update on restored.t for each row execute function suppress_redundant_updates_trigger()'],
  ['rule', 'create rule x as on delete to restored.t do instead nothing'],
  ['policy', 'create policy x on restored.t'],
  ['constraint', 'alter table restored.t add constraint x check (a > 0)'],
  ['default', 'create table public.t (a int default 1)'],
  ['operator', 'create operator restored.=== (leftarg = int, rightarg = int, function = int4eq)'],
  ['operator class', 'create operator class restored.x for type int using btree as operator 1 <, function 1 btint4cmp(int, int)'],
  ['cast', 'create cast (text as bytea) without function'],
  ['conversion', `create conversion restored.x for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1`],
  ['collation', 'create collation restored.x from "C"'],
  ['text search configuration', 'create text search configuration restored.x (copy = english)'],
  ['text search dictionary', 'create text search dictionary restored.x (template = simple)'],
  ['extension', 'create extension tablefunc'],
  ['language', 'create language x handler plpgsql_call_handler'],
  ['event trigger', `create function restored.f() returns event_trigger language plpgsql as 'begin end';
     create event trigger x on ddl_command_end execute function restored.f()`],
  ['publication', 'create publication x'],
  ['statistics object', 'create statistics restored.x on a, b from restored.t'],
  ['schema', 'create schema app'],
  ['foreign server', 'create foreign data wrapper w; create server x foreign data wrapper w'],
  ['setting', `alter database ${new URL(url).pathname.slice(1)} set work_mem = 64`],
  ['large object', 'select lo_create(4711)'],
  ['relation', 'create view restored.v as select 1 as a'],
  ['relation', 'create index x on restored.t (a)'],
  ['relation', 'create table public.t (a int)'],
  ['type', 'create domain restored.d as int; alter table restored.t add d restored.d'],
])('it is rejected if it contains a %s: %s', async (kind, make) => {
  await withClient(url, async (client) => {
    await client.query(`begin; ${make}`); // the end of the session undoes it
    await expect(checkOnlyTables(client, 'restored')).rejects.toThrow(new RegExp(`more than tables: .*1 × ${kind}[,.]`));
  });
}); // prettier-ignore
