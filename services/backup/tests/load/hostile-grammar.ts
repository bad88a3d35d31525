import { createWords, type Names, type Rule, type Words } from './hostile-words.ts';

export interface HostileDump {
  /** What the dump tries to do. */
  theme: string;
  dump: Buffer;
}

/** Returns a dump that tries to do more than add rows: tables, usual statements, and among them statements of a theme. */
export function hostileDump(seed: number, names: Names): HostileDump {
  const words = createWords(seed, names);
  const { int, one, many, maybe, random } = words;
  const rules = statementsOf(words);
  const themes = Object.keys(rules);
  const theme = themes[seed % themes.length] as keyof typeof rules;
  const tables = ['tasks', 'u', 't'].map((each) => `create table public.${each} (id int, title ${one(['text', 'loop', 'public.mood', 'varchar(9)'])});\n`); // prettier-ignore
  const harmless: Rule[] = [() => goodCopy(words), () => one(Object.values(around(words)))()];
  const aside = () => maybe(() => many(3, one(harmless), ''), 0.5);
  const attack = () => `${one(rules[theme])()}${one([';', ';', ';', ' ;', '; ;'])}\n`;
  const end = random() < 0.9 ? '' : one(['--', '\\', '/* ', "'", 'select', ';;']);
  const text = `${maybe(() => '\ufeff', 0.1)}${maybe(() => tables.join(''), 0.95)}${aside()}${many(2, attack, aside())}${aside()}${end}`;
  return { theme, dump: theme === 'encodings' ? encoded(text, int) : Buffer.from(text) };
}

/** Returns bytes that are not valid UTF-8, or that another encoding reads as quotes. */
function encoded(text: string, int: (below: number) => number): Buffer {
  const bytes = Buffer.from(text);
  const at = int(bytes.length);
  const cut = (middle: number[]) => Buffer.concat([bytes.subarray(0, at), Buffer.from(middle), bytes.subarray(at)]);
  const ways = [
    () => bytes,
    () => cut([0xff]),
    () => cut([0xc0, 0xa7]), // an overlong quote
    () => cut([0xbf, 0x27]), // one character in GBK, otherwise a quote
    () => cut([0x83, 0x5c]), // one character in Shift-JIS, otherwise a backslash
    () => cut([0xed, 0xa0, 0x80]), // half of a surrogate pair
    () => cut([0]),
    () => cut([0x1b, 0x24, 0x42]), // ISO-2022 switches to another character set
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.from(text, 'latin1'),
  ];
  return ways[int(ways.length)]?.() ?? bytes;
}

const goodCopy = ({ target, one }: Words) =>
  `copy ${target()} from stdin;\n1\tx\n2\t${one(['\\\\.', '\\N', 'a\\tb', '\\\\', '"', "'; drop table t; --", '\u{1f600}'])}\n\\.\n`;

/** Statements that real dumps contain besides rows, with harmful parts in them. */
function around(words: Words) {
  const { one, maybe, int, schema, name, relation, database, role, type, evil, quoted, columns, loader } = words;
  const plain = () => `${name()}(${one(['', 'oid', 'text', 'name'])})`;
  return {
    grant: () => `grant ${one([`all on database ${database()}`, `connect on database ${database()}`, 'all on schema public', 'all on schema pg_catalog', `select on ${relation()}`, `all on tablespace pg_default`, 'usage on language c', 'set on parameter log_statement', 'all on all tables in schema pg_catalog', `execute on function ${plain()}`])} to ${one([role(), 'public'])} ${maybe(() => 'with grant option')};\n`, // prettier-ignore
    revoke: () => `revoke ${one([`all on database ${database()}`, 'all on schema public', `select on ${relation()}`, 'usage on schema pg_catalog'])} from ${one([role(), 'public'])};\n`, // prettier-ignore
    defaults: () => `alter default privileges ${maybe(() => `for role ${role()}`)} grant all on ${one(['tables', 'functions', 'schemas'])} to public;\n`, // prettier-ignore
    function: () => `create ${maybe(() => 'or replace')} function ${schema()}${plain()} returns ${one(['trigger', 'text', 'event_trigger', 'name'])} language ${one(['plpgsql', 'sql', 'c', 'internal', 'plpython3u'])} ${maybe(() => 'security definer')} as ${quoted()};\n`, // prettier-ignore
    trigger: () => `create trigger ${name()} before insert on ${relation()} for each row execute function ${schema()}${name()}();\n`, // prettier-ignore
    event: () => `create event trigger ${name()} on ddl_command_end execute function ${schema()}${name()}();\n`,
    rule: () => `create rule ${name()} as on ${one(['insert', 'select', 'update'])} to ${relation()} do ${one(['also', 'instead'])} (${one(['select ', 'select 1, '])}${evil()}; notify x);\n`, // prettier-ignore
    policy: () => `create policy ${name()} on ${relation()} using (${evil()} is null);\n`,
    cast: () => `create cast (${one(['text', 'int', 'uuid'])} as ${type()}) ${one(['with inout as implicit', `with function ${relation()}(text) as assignment`, 'without function'])};\n`, // prettier-ignore
    domain: () => `create domain ${relation()} as ${type()} ${maybe(() => `default ${evil()}`)} check (${evil()} is null);\n`, // prettier-ignore
    type: () => `create type ${relation()} ${one([`as enum ('a', '${'b'.repeat(60)}')`, '(input = f, output = f)', `as (a ${type()})`, `as range (subtype = ${type()})`, ''])};\n`, // prettier-ignore
    operator: () => `create operator ${one(['', 'public.', 'pg_catalog.'])}= (leftarg = text, rightarg = text, function = ${relation()});\n`, // prettier-ignore
    view: () => `create ${one(['view', 'materialized view', 'or replace view'])} ${relation()} (a) as select ${evil()};\n`, // prettier-ignore
    refresh: () => `refresh materialized view ${relation()};\n`,
    extension: () => `create extension ${one(['dblink', 'file_fdw', 'postgres_fdw', 'plpython3u', 'citext', 'adminpack', 'lo'])} with schema public;\n`, // prettier-ignore
    comment: () => `comment on ${one([`database ${database()}`, `role ${loader}`, `table ${relation()}`, `schema public`, 'tablespace pg_default'])} is 'mine';\n`, // prettier-ignore
    label: () => `security label on ${one([`database ${database()}`, `table ${relation()}`])} is 'mine';\n`,
    largeObject: () => `select ${one(['', 'pg_catalog.'])}lo_create(${int(1e6)}), lo_open(1, 131072), lowrite(0, 'x');\n`, // prettier-ignore
    foreign: () => one([`create foreign table ${relation()} (${columns()}) server s options (program 'touch ${words.mark}');\n`, `create server s foreign data wrapper file_fdw;\n`, `create foreign data wrapper w handler ${name()};\n`, `create user mapping for ${role()} server s options (password 'x');\n`]), // prettier-ignore
    owner: () => `alter ${one(['table', 'schema', 'function', 'type', 'database'])} ${name()}${maybe(() => '', 1)} owner to ${role()};\n`.replace(/(function \S+) owner/, '$1() owner'), // prettier-ignore
    publication: () => one([`create publication ${name()} for all tables;\n`, `create subscription ${name()} connection 'host=127.0.0.1' publication p;\n`]), // prettier-ignore
    other: () => one([`create statistics ${name()} on id, title from tasks;\n`, `create conversion ${name()} for 'UTF8' to 'LATIN1' from f;\n`, `create language ${name()} handler f;\n`, `create access method ${name()} type index handler f;\n`, `create text search configuration ${name()} (copy = pg_catalog.english);\n`, `create collation ${name()} from "C";\n`, `create aggregate ${name()} (int) (sfunc = f, stype = int);\n`, `create ${maybe(() => 'unique')} index on ${relation()} ((${evil()}));\n`, `create sequence ${relation()} owned by tasks.id;\n`, `alter sequence ${relation()} restart 7;\n`]), // prettier-ignore
  };
}

/** Harmful statements, by theme. */
function statementsOf(words: Words) {
  const { one, many, maybe, int, name, relation, target, database, role, namedRole, evil, breakout, quoted, literal, column, columns, loader, mark } = words; // prettier-ignore
  const rules = around(words);
  const bare =
    (rule: Rule): Rule =>
    () =>
      rule().trim().replace(/;$/, '');
  const row = () => `(${one(['1', '-2', 'null', literal()])}, ${one([`'a'`, literal(), literal()])})`;
  const copyLine = () =>
    many(3, () => one(['1', 'x', '\\N', '\\\\.', '\\x41', '\\.', 'a\\tb', '\\', '"', "'; drop table t; --", '\u{1f600}', '\\restrict a', `\\! touch ${mark}`, 'x'.repeat(int(20_000))]), '\t'); // prettier-ignore
  const settings = ['role', 'session authorization', 'client_encoding', 'standard_conforming_strings', 'datestyle', 'timezone', 'log_statement', 'session_preload_libraries', 'default_transaction_read_only', 'statement_timeout', 'app.x', 'session_replication_role', 'temp_tablespaces', 'log_directory']; // prettier-ignore
  const setting = () => `set ${one(['', 'session', 'local'])} ${one(settings)} ${one(['=', 'to'])} ${one(['public', `''`, 'off', `'SJIS'`, 'postgres', 'default', `'a, b'`, '0', `'x'`])}`.replace(/authorization (=|to)/, 'authorization'); // prettier-ignore
  return {
    settings: [
      setting,
      () => `select ${one(['', 'pg_catalog.', 'public.'])}set_config('${one([...settings, 'backslash_quote'])}', ${one([`'public'`, `'off'`, `'postgres'`, evil(), 'null'])}, ${one(['false', 'true'])})`, // prettier-ignore
      () => `alter database ${database()} ${one(['set datestyle = german', 'set synchronous_commit = off', 'is_template true', 'connection limit 0', 'allow_connections false', 'reset all', 'rename to gone', 'set tablespace pg_default', 'refresh collation version'])}`, // prettier-ignore
      () => `alter role ${one([role(), 'all'])} ${maybe(() => `in database ${database()}`)} set ${one(['work_mem', 'log_statement', 'search_path'])} = '1'`, // prettier-ignore
      () => one([`alter system set log_statement = $$none$$`, 'alter system reset all', 'reset all', 'reset role', 'discard all']), // prettier-ignore
    ],
    ownership: [
      bare(rules.owner),
      () => `alter database ${database()} owner to ${role()}`,
      () => `alter table ${target()} owner to ${role()}`,
      () => one([`reassign owned by ${role()} to ${loader}`, `drop owned by ${role()} cascade`]),
      () => `alter ${one(['large object 1', 'tablespace pg_default', 'event trigger e', 'foreign data wrapper w', 'language plpgsql'])} owner to ${role()}`, // prettier-ignore
    ],
    'search paths': [
      () => `set ${one(['', 'local'])} search_path to ${one([`app, public`, `''`, `"$user", restored`, 'pg_catalog, pg_temp', relation().split('.')[0]])};\ncreate table ${one(['pg_database', 'tasks', 't2', 'pg_class'])} (${columns()});\ncopy t2 from stdin;\n1\n\\.`, // prettier-ignore
      () => `select ${one(['', 'pg_catalog.'])}set_config('search_path', ${one([`'app, "$user"'`, `''`, `'restored'`, evil()])}, false)`, // prettier-ignore
      () => `create schema ${one(['app', 'restored', 'pg_x', '"public"'])} ${maybe(() => `authorization ${role()}`)} ${maybe(() => `create table x (${column()})`)}`, // prettier-ignore
      () => one([`drop schema public cascade`, `drop schema restored cascade`, `alter schema restored rename to ${name()}`, `alter table ${target()} set schema ${name()}`]), // prettier-ignore
    ],
    grants: [
      ...[bare(rules.grant), bare(rules.revoke), bare(rules.defaults)],
      () => `grant ${namedRole()} to ${namedRole()} ${maybe(() => 'with admin option')}`,
      () => `alter role ${role()} ${one(['superuser', `password 'x'`, 'nologin', 'connection limit 0', 'valid until $$2000-01-01$$', 'bypassrls'])}`, // prettier-ignore
      () => one([`create role mallory superuser`, `drop role ${namedRole()}`, `create user mallory in role ${namedRole()}`, `alter role ${namedRole()} rename to gone`]), // prettier-ignore
    ],
    functions: [
      ...[bare(rules.function), bare(rules.trigger), bare(rules.event), bare(rules.policy), bare(rules.operator)],
      () => `do ${maybe(() => 'language plpgsql')} ${quoted()}`,
      () => `call ${relation()}()`,
      () => `select ${evil()}`,
      () => `select * from ${one([evil(), 'tasks', `rows from (${evil()})`])}`,
      () => `create function f() returns int language sql begin atomic select 1; select ${evil()}; end`,
    ],
    'casts and types': [
      ...[bare(rules.cast), bare(rules.type)],
      () => `insert into ${target()} values (${evil()}::${words.type()}, 'x')`,
      () =>
        `create table c (a ${words.type()}, b ${words.type()} default ${literal()}); copy c from stdin;\n1\tx\n\\.\n`,
    ],
    domains: [
      bare(rules.domain),
      () => `create domain public.loop as ${words.type()} ${maybe(() => `default ${evil()}`)} check (${evil()} is null);\ncreate table d (a public.loop, b loop[]);\n${maybe(() => 'insert into d (b) values (null);\n')}copy d from stdin;\n1\t{}\n\\.\n`, // prettier-ignore
      () => `alter domain ${relation()} ${one([`add check (${evil()} is null)`, `set default ${evil()}`, `owner to ${role()}`, 'rename to gone'])}`, // prettier-ignore
    ],
    rules: [
      ...[bare(rules.rule), bare(rules.view), bare(rules.refresh)],
      () => `create rule "_RETURN" as on select to ${target()} do instead select ${evil()} as id, 'x'::text as title`,
      () => `alter table ${target()} ${one(['enable always rule r', 'disable trigger all', 'enable row level security', 'replica identity full'])}`, // prettier-ignore
    ],
    'foreign tables': [
      bare(rules.foreign),
      () => one([`import foreign schema public from server s into public`, `alter server s options (set host 'x')`, `alter foreign table ${name()} options (add filename '${mark}')`, `drop server s cascade`]), // prettier-ignore
      () => `create foreign table f (id int) server s options (filename '/etc/passwd'); copy f from stdin;\n1\n\\.\n`,
      bare(rules.publication),
    ],
    encodings: [
      () => `set ${one(['client_encoding to', 'names'])} ${one([`'SJIS'`, `'LATIN1'`, `'SQL_ASCII'`, `'GBK'`, `'UTF8'`, 'default'])}`, // prettier-ignore
      () => `set client_encoding to 'LATIN1';\ncopy t from stdin;\n1\t\u{1f600}\n\\.\n`,
      () => `copy ${target()} from stdin with (encoding '${one(['SJIS', 'LATIN1', 'UTF8'])}');\n1\tx\n\\.\n`,
      () => `insert into ${target()} values (1, '${one(['\u0000', '\u202e', '\ud800', '表', '¿\\'])}')`,
      () => `copy ${target()} from stdin;\n1\t${one(['\\xbf', '\\303\\047', '\\000', '\\xc0\\xa7', '表\\', '\u0000'])}\n\\.\n`, // prettier-ignore
    ],
    quotes: [
      () => `create table ${breakout('"', 'x', ' (n int)')} (id int)`,
      () => `create table x (${breakout('"', 'x', ' int)')} int)`,
      () => `create table x (${breakout('"', 'x', ') values (1)')} int); insert into x values (1)`,
      () => `insert into t values (1, ${breakout("'", 'x', ')')})`,
      () => `alter table t alter title set default ${breakout("'", 'x', '')}`,
      () => `copy t from stdin with (null ${breakout("'", 'x', ')')});\n1\tx\n\\.\n`,
      () => `set timezone to ${breakout("'", 'UTC', ', true)')}`,
    ],
    defaults: [
      () => `create table d (a text default ${evil()}, b int);\ncopy d (b) from stdin;\n1\n\\.\n`,
      () => `create table d (a text default ${evil()}, b int);\ninsert into d (b) values (1)`,
      () => `create table d (a text default ${evil()}, b int);\ninsert into d values (default, 1)`,
    ],
    endless: [
      () => `${'select ('.repeat(int(3_000))}1`,
      () => `select 1${'+1'.repeat(int(40_000))}`,
      () => `select '${'x'.repeat(int(3_000_000))}`,
      () => `insert into t values ${`(1,'${'y'.repeat(int(50))}'),`.repeat(int(30_000))}(1, 'z')${one([';', ',', ''])}`,
      () => `${one(['/* ', '-- ', '$x$ ', '"', "e'\\"])}${'a '.repeat(int(1_500_000))}`,
      () => `/* ${'/* '.repeat(int(3_000))} ; */ ${'*/ '.repeat(int(3_000))}`,
      () => `copy t from stdin;\n1\t${'z'.repeat(one([1_000, 100_000, 5_000_000]))}${one(['\n\\.\n', '', '\n\\.'])}`,
      () => `create table w (${Array.from({ length: int(2_500) }, (_, n) => `c${n} int`).join(',')})`,
      () => Array.from({ length: int(1_500) }, (_, n) => `create table w${n} (a int)`).join(';\n'),
      () => `${'begin;'.repeat(int(2_000))} ${';'.repeat(int(10_000))}`,
    ],
    tables: [
      () => `create ${one(['', '', 'temp', 'unlogged', 'global temporary'])} table ${maybe(() => 'if not exists')} ${relation()} (${columns()}) ${maybe(() => one([`inherits (${relation()})`, 'partition by range (id)', 'with (autovacuum_enabled = off)', `tablespace ${name()}`, 'on commit drop', 'using heap']))}`, // prettier-ignore
      () => `create table ${relation()} ${one([`as select ${evil()}`, `partition of ${target()} default`, `(like ${target()} including all)`, `of ${name()}`])}`, // prettier-ignore
      () => `alter table ${target()} ${one([`attach partition ${target()} default`, `inherit ${target()}`, `add ${column()}`, `alter id set default ${evil()}`, `alter title type text using ${evil()}`, `set tablespace ${name()}`, `add constraint c check (${evil()} is null)`, 'drop column id', 'rename id to x', 'alter id add generated always as identity', `set (fillfactor = 10)`])}`, // prettier-ignore
      () => one([`drop table if exists ${target()} cascade`, `truncate ${target()}`, `drop database ${database()}`, `create database mallory`, `create tablespace x location '/tmp'`, `drop index ${name()}`]), // prettier-ignore
    ],
    rows: [
      () => `insert into ${target()} ${maybe(() => '(id, title)')} ${maybe(() => 'overriding system value', 0.1)} values ${many(4, row, ', ')} ${maybe(() => one([`returning ${evil()}`, 'on conflict do nothing', `on conflict do update set id = ${evil()}`, `limit ${evil()}`, `order by ${evil()}`]), 0.2)}`, // prettier-ignore
      () => `insert into ${target()} ${one([`select ${evil()}, 'x'`, 'default values', `table u`])}`,
      () => `with x as (${one(['delete from tasks returning 1', `select ${evil()}`])}) insert into ${target()} values (1, 'x')`, // prettier-ignore
      () => one([`update ${target()} set id = ${evil()}`, `delete from ${target()}`, `merge into tasks using u on true when matched then delete`]), // prettier-ignore
      () => `copy ${relation()} ${one([`from program 'touch ${mark}'`, `to program 'touch ${mark}'`, `from '/etc/passwd'`, `to '${mark}'`, 'to stdout'])}`, // prettier-ignore
      () => `copy (select ${evil()}) to ${one(['program ', ''])}'touch ${mark}'`,
      () => `copy ${target()} ${maybe(() => `(${many(2, name, ', ')})`, 0.1)} from stdin ${maybe(() => one(['with (format csv)', 'with (format binary)', `with (delimiter ',')`, `delimiter e'\\n'`, `with (null '${literal().replaceAll("'", '')}')`, `where ${evil()} is null`, 'with (header match)', 'with (freeze)', 'with (on_error ignore)']), 0.3)};\n1\tx\n${many(4, copyLine, one(['\n', '\r\n', '\r']))}\n${one(['\\.', '\\.', '\\.', '\\.\r', '\\. ', ''])}\n`, // prettier-ignore
    ],
    sessions: [
      () => one(['commit', 'rollback', 'begin', 'end', 'savepoint x', 'rollback to x', `prepare transaction 'x'`, 'abort', 'commit and chain', 'start transaction read only', `set transaction isolation level serializable`]), // prettier-ignore
      () => one([`prepare p as select ${evil()}`, 'execute p', 'deallocate all', 'listen x', 'notify x', `load '${mark}'`, 'checkpoint', 'vacuum full', 'cluster', 'reindex database', 'lock table tasks', 'declare c cursor with hold for select 1', 'fetch c', 'analyze pg_class', 'explain analyze select 1']), // prettier-ignore
      () => `\n\\${one(['! touch ', 'o |touch ', 'i /etc/passwd ', 'c template1 ', 'set x `touch ', 'restrict ', 'unrestrict ', 'gexec ', 'copy tasks to program touch ', 'encoding ', 'if '])}${mark}\n`, // prettier-ignore
    ],
    'other objects': [
      bare(rules.extension),
      bare(rules.comment),
      bare(rules.label),
      bare(rules.largeObject),
      bare(rules.other),
    ],
  };
}
