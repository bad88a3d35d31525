import type { RestoreNames } from '../../src/databases/names.ts';

/** What the statements refer to. `mark`: a file that none of them may create. */
type Names = Pick<RestoreNames, 'live' | 'fresh' | 'loader'> & { mark: string };

/** Expressions that would have an effect, or never end. */
const evilIn = ({ mark }: Names) => [
  ...['pg_sleep(100000)', `pg_read_file('/etc/passwd')`, `lo_export(1, '${mark}')`, `lo_import('/etc/passwd')`, 'f()', 'public.f()'],
  ...['pg_terminate_backend(pg_backend_pid())', `set_config('role', 'postgres', false)`, `dblink('host=127.0.0.1', 'select 1')`],
  ...[`query_to_xml('drop role x', true, true, '')`, `nextval('s')`, `setval('s', 99)`, '(select rolpassword from pg_authid limit 1)'],
  ...['pg_advisory_lock(1)', 'pg_reload_conf()', 'pg_switch_wal()', `repeat('x', 1000000000)`, 'generate_series(1, 1000000000000)'],
  ...[`pg_notify('x', 'y')`, `'x' operator(public.||) 'y'`, `pg_create_restore_point('x')`, `pg_create_physical_replication_slot('x')`],
  ...[`pg_logical_emit_message(false, 'x', 'y')`, `pg_replication_origin_create('x')`, `lo_from_bytea(0, 'x')`, 'pg_promote()'],
  ...['txid_current()', `pg_file_write('${mark}', 'x', false)`, 'current_user', `'x'::text::regclass`, 'row(1, 2)', `'a' collate "C"`],
]; // prettier-ignore

const body = ({ live, mark }: Names) => `
  begin execute 'alter database ${live} set datestyle = german'; execute 'create role mallory superuser';
  copy (select 1) to program 'touch ${mark}'; loop perform pg_sleep(1); end loop; end`;

/** Statements with harm in them beside which the rows of a dump are loaded, because they are skipped or changed. */
export const skippedIn = (names: Names) => [
  ...[`grant all on database ${names.live} to public`, `grant all on schema pg_catalog to ${names.loader}`, 'grant usage on language c to public'],
  ...['grant set on parameter log_statement to public', `revoke all on database ${names.live} from public`, 'revoke usage on schema pg_catalog from public'],
  ...['alter default privileges for role postgres grant all on tables to public'],
  `create or replace function public.f() returns trigger language plpgsql security definer as $b$ ${body(names)} $b$`,
  ...['create function pg_catalog.text(oid) returns text language c as $$x$$', 'create function g() returns int language sql begin atomic select pg_sleep(9999); end'],
  ...['create trigger x before insert on tasks for each row execute function public.f()', 'create event trigger x on ddl_command_end execute function public.f()'],
  ...['create rule x as on insert to tasks do instead (select pg_sleep(9999); notify x)', 'create rule "_RETURN" as on select to t do instead select f() as id, $$x$$::text as title'],
  ...['create policy x on tasks using (f() is null)', 'create cast (text as uuid) with inout as implicit', 'create cast (int as text) with function f(int) as assignment'],
  ...['create domain public.loop2 as int default f() check (f() is null)', `create type e as enum ('a', '${'b'.repeat(60)}')`, 'create type b (input = f, output = f)'],
  ...['create operator pg_catalog.= (leftarg = text, rightarg = text, function = f)', 'create view pg_database (a) as select f()', 'create materialized view m as select pg_sleep(9999)'],
  ...['refresh materialized view m', 'create extension dblink with schema public', 'create extension plpython3u', `comment on database ${names.live} is 'mine'`, `comment on role ${names.loader} is 'mine'`],
  ...[`security label on database ${names.live} is 'mine'`, `select lo_create(7), lo_open(1, 131072), lowrite(0, 'x')`, 'create foreign data wrapper w handler f', 'create server s foreign data wrapper file_fdw'],
  ...[`create user mapping for postgres server s options (password 'x')`, `alter table tasks owner to postgres`, `alter database ${names.live} rename to gone`, `alter database ${names.live} owner to ${names.loader}`, 'alter function f() owner to postgres'],
  ...['create publication x for all tables', `create subscription x connection 'host=127.0.0.1' publication p`, 'create statistics x on id, title from tasks', `create conversion x for 'UTF8' to 'LATIN1' from f`],
  ...['create language x handler f', 'create access method x type index handler f', 'create text search configuration x (copy = pg_catalog.english)', 'create collation x from "C"', 'create aggregate x (int) (sfunc = f, stype = int)'],
  ...['create unique index on tasks ((f()))', 'create sequence s owned by tasks.id', 'alter sequence s restart 7', 'set session authorization postgres', 'set statement_timeout = 0', 'set session_replication_role = replica'],
  ...['create schema restored', 'set search_path to restored, pg_catalog, pg_temp', 'create table restored.x (a int)', 'set search_path to pg_catalog', 'create table pg_class (a int)', `set search_path to ''`],
  ...['create table public.d (a text default f(), b int check (f() is null), c int generated always as (f()) stored, r regclass, l char(10000000))', `copy public.d from stdin;\nx\t1\tnowhere\tx\n\\.\n`],
  ...['alter table tasks enable always rule r', 'alter table tasks disable trigger all', 'alter table tasks enable row level security', 'alter table tasks set (fillfactor = 10)', 'alter table tasks add constraint c check (f() is null)'],
  // A program that does not quote a literal again lets these out of it.
  `create table public."x"" (n int); create view restored.v as select 1; --" (id int)`,
  `create table public.xx ("x"" int); create view restored.v as select 1; --" int, "y"") values (1); create view restored.v as select 1; --" int)`,
  `insert into public.xx values (1, 2)`,
  `create table public.q (a text default '''); create view restored.v as select 1; --', b text)`,
  `insert into public.q values ($$'); create view restored.v as select 1; --$$, '''); drop table tasks; --')`,
  `copy public.q from stdin with (null ''');create view restored.v as select 1; --');\n'\tx\n\\.\n`,
  ...['begin', 'commit', 'start transaction read only', 'vacuum', 'analyze pg_class', 'lock table tasks', '\\restrict a\n', '\\unrestrict a\n'],
]; // prettier-ignore

/** Statements because of which a dump is refused. */
export const refusedIn = (names: Names) => [
  ...evilIn(names).map((evil) => `insert into t values (1, ${evil})`),
  ...['pg_sleep(100000)', 'f()', `pg_read_file('/etc/passwd')`, `set_config('role', 'postgres', false)`].map((evil) => `select ${evil}`),
  ...['select * from tasks', 'select * from rows from (f())', `do $b$ ${body(names)} $b$`, 'call f()', 'update tasks set id = f()', 'delete from tasks', 'truncate tasks', 'table u'],
  ...[`insert into t select f(), 'x'`, 'insert into t default values', 'with x as (delete from tasks returning 1) insert into t values (1)', 'insert into t values (1) returning f()', 'insert into t values (1) limit f()'],
  ...['merge into tasks using u on true when matched then delete', `copy t from program 'touch ${names.mark}'`, `copy t to program 'touch ${names.mark}'`, `copy t to '${names.mark}'`, `copy (select f()) to stdout`],
  ...[`copy t from '/etc/passwd'`, 'copy t from stdin with (format csv);\n1,x\n\\.\n', `copy t from stdin with (encoding 'SJIS');\n1\tx\n\\.\n`, 'copy t from stdin where f() is null;\n1\tx\n\\.\n'],
  ...['set role postgres', `set client_encoding to 'LATIN1'`, 'set standard_conforming_strings to off', 'set log_statement = none', `set app.x = ''`, 'reset role', 'discard all'],
  ...[`alter database ${names.live} set datestyle = german`, `alter database ${names.fresh} is_template true`, `alter role ${names.loader} superuser`, `alter role all set work_mem = '1'`],
  ...['alter system reset all', 'create role mallory superuser', 'drop role postgres', 'create database mallory', `drop database ${names.live}`, `reassign owned by postgres to ${names.loader}`, `drop owned by ${names.loader} cascade`],
  ...['drop schema public cascade', 'drop table tasks cascade', 'alter schema public rename to gone', 'alter table tasks rename to gone', 'alter table t alter title type text using f()', 'alter table t drop column id', 'alter domain loop rename to gone'],
  ...['create table c as select f()', 'create table c of mood', 'create schema c create table x (a int)', `create tablespace x location '/tmp'`, 'prepare p as select f()', 'execute p', 'deallocate all', 'listen x', 'notify x', `load '${names.mark}'`],
  ...['checkpoint', 'reindex database', 'declare c cursor with hold for select 1', 'fetch c', 'explain analyze select 1', 'rollback', 'savepoint x', `prepare transaction 'x'`, 'import foreign schema public from server s into public'],
  ...['! touch ', 'o |touch ', 'i /etc/passwd ', 'c template1 ', 'set x `touch ', 'gexec ', 'copy tasks to program touch ', 'encoding '].map((command) => `\n\\${command}${names.mark}\n`),
  ...[`${'select ('.repeat(3_000)}1`, `select 1${'+1'.repeat(40_000)}`, `select '${'x'.repeat(3_000_000)}'`, `-- ${'a '.repeat(1_500_000)}`, `select 1 /* ${'/* '.repeat(3_000)} ; */`, `copy t from stdin;\n1\t${'z'.repeat(100_000)}`],
  ...[`create table w (${Array.from({ length: 2_500 }, (_, n) => `c${n} int`).join(',')})`, Array.from({ length: 1_500 }, (_, n) => `create table w${n} (a int)`).join(';\n')],
]; // prettier-ignore

/** Bytes that are no UTF-8, or that another encoding reads as quotes. */
export const BAD_BYTES = [[0xff], [0xc0, 0xa7], [0xbf, 0x27], [0x83, 0x5c], [0xed, 0xa0, 0x80], [0]].map((bytes) =>
  Buffer.from(bytes),
);
