/** Dumps that try to do more than bring rows, made by chance from a grammar: the same seed gives the same dump. */
export interface Names {
  live: string;
  fresh: string;
  loader: string;
  /** A file that no statement may make. */
  mark: string;
}

type Rule = () => string;

export function hostileDump(seed: number, names: Names): string {
  const random = createRandom(seed);
  const int = (below: number) => Math.floor(random() * below);
  const one = <Value>(values: readonly Value[]): Value => values[int(values.length)] as Value;
  const many = (most: number, rule: Rule, separator: string) =>
    Array.from({ length: 1 + int(most) }, rule).join(separator);
  const maybe = (rule: Rule) => (random() < 0.4 ? rule() : '');

  const schema = () =>
    one(['', '', 'public.', 'pg_catalog.', 'restored.', 'information_schema.', 'app.', 'pg_temp.', '"".']);
  const name = () =>
    one([
      ...[
        't',
        'u',
        'tasks',
        '"T"',
        '"a;b"',
        '"a""b"',
        '"; drop table x; --"',
        'pg_database',
        'pg_class',
        'pg_authid',
        'pg_roles',
      ],
      ...[
        'pg_get_userbyid',
        'pg_terminate_backend',
        'text',
        'int4',
        '"pg_toast"',
        'ünïcode',
        '"\u202e"',
        '"\u{1f600}"',
        'U&"d\\0061t"',
      ],
      ...[
        'x'.repeat(63),
        'y'.repeat(64),
        `"${'é'.repeat(40)}"`,
        `"${'z'.repeat(300)}"`,
        '"values"',
        'restored',
        '"$user"',
        'user',
      ],
    ]);
  const database = () => one([names.live, names.fresh, 'postgres', 'template1']);
  const role = () =>
    one([names.loader, 'postgres', 'public', 'mallory', 'current_user', 'session_user', 'pg_execute_server_program']);
  const relation = () => `${schema()}${name()}`;
  /** Mostly one that is there. */
  const target = () => (random() < 0.85 ? one(['tasks', 'public.u', 't', 'public.tasks']) : relation());
  const type = () =>
    one([
      ...[
        'int',
        'text',
        'uuid',
        'timestamptz(3)',
        'varchar(5)',
        'char(10000000)',
        'bit(80000000)',
        'numeric(1000,999)',
        'regclass',
        'xml',
      ],
      ...[
        'serial',
        'text[]',
        'loop',
        'mood',
        'citext',
        'hstore',
        `${schema()}${name()}`,
        'pg_node_tree',
        'internal',
        'anyelement',
        'record',
      ],
    ]);
  const evil = () =>
    one([
      ...[
        'pg_sleep(100000)',
        `pg_read_file('/etc/passwd')`,
        `lo_export(1, '${names.mark}')`,
        `pg_terminate_backend(pg_backend_pid())`,
      ],
      ...[
        `set_config('role', 'postgres', false)`,
        'f()',
        'public.f()',
        `dblink('host=127.0.0.1', 'select 1')`,
        `query_to_xml('drop role x', true, true, '')`,
      ],
      ...[
        `(select rolpassword from pg_authid limit 1)`,
        `nextval('s')`,
        `pg_advisory_lock(1)`,
        `pg_reload_conf()`,
        `repeat('x', 1000000000)`,
      ],
      ...[
        `generate_series(1, 1000000000000)`,
        `pg_switch_wal()`,
        `pg_notify('x', 'y')`,
        `currval('s'::regclass)`,
        `'x' operator(public.||) 'y'`,
      ],
    ]);
  const body = () =>
    one([
      `begin execute 'alter database ${database()} set datestyle = german'; return null; end`,
      `begin execute 'create role mallory superuser'; return null; end`,
      `begin copy (select 1) to program 'touch ${names.mark}'; return null; end`,
      `begin loop perform pg_sleep(1); end loop; end`,
      `; \\! touch ${names.mark}\n end $b$; drop table tasks; $b$`,
    ]);
  const literal = () =>
    one([
      ...[
        '1',
        '-1',
        '0x1f',
        '1e999',
        '1e131071',
        `''`,
        `'it''s'`,
        `e'\\'; drop table t; --'`,
        `'\\'`,
        `U&'\\0027'`,
        `$$;'$$`,
        `$a$ $$ ; $b$ $a$`,
      ],
      ...[
        `b'01'`,
        `x'zz'`,
        'null',
        'default',
        'true',
        `'x'::text`,
        `'1e131071'::numeric::text`,
        `array[1,2]`,
        `array[[${evil()}]]`,
        `row(1,2)`,
      ],
      ...[
        'now()',
        'current_timestamp',
        'current_user',
        evil(),
        `(${evil()})`,
        `- ${evil()}`,
        `cast(${evil()} as text)`,
        `('a' || 'b')`,
        `'\u0000'`,
      ],
      ...[
        `'${'x'.repeat(int(3_000))}'`,
        `${'('.repeat(int(200))}1`,
        `n'x'`,
        `interval '1 day'`,
        `'a' collate "C"`,
        '$1',
        '@ -1',
        `'x'\n'y'`,
      ],
    ]);
  const column = () =>
    `${name()} ${type()} ${maybe(() =>
      one([`default ${evil()}`, `check (${evil()} is null)`, 'primary key', 'not null', `collate ${relation()}`, `references ${relation()}`,
        `generated always as (${evil()}) stored`, `generated always as identity`, `default ${literal()}`, 'storage plain compression lz4']))}`; // prettier-ignore
  const table = () =>
    `create ${one(['', '', 'temp', 'unlogged', 'foreign', 'global temporary'])} table ${maybe(() => 'if not exists')} ${relation()} (${many(4, column, ', ')})` +
    maybe(() => one([` inherits (${relation()})`, ' partition by range (t)', ' with (autovacuum_enabled = off)', ` tablespace ${name()}`, ' on commit drop', ` server s`, ` using ${name()}`])); // prettier-ignore
  const quoted = () => one([`$b$ ${body()} $b$`, `'${body().replaceAll("'", "''")}'`]);

  /** What real dumps hold beside rows, with something in it that would do harm. */
  const around: Rule[] = [
    () => `grant ${one(['all', 'connect', 'create', 'temp', 'select', 'usage'])} on ${one(['database', 'schema', 'table', 'tablespace', 'language', 'parameter'])} ${one([database(), relation(), 'public', 'pg_default', 'log_statement'])} to ${role()}`, // prettier-ignore
    () => `alter default privileges ${maybe(() => `for role ${role()}`)} grant all on tables to public`,
    () => `create ${maybe(() => 'or replace')} function ${relation()}(${one(['', 'oid', 'text', 'name'])}) returns ${one(['trigger', 'text', 'event_trigger', 'name'])} language ${one(['plpgsql', 'sql', 'c', 'internal', 'plpython3u'])} ${maybe(() => 'security definer')} as ${quoted()}`, // prettier-ignore
    () => `create trigger ${name()} before insert on ${relation()} for each row execute function ${relation()}()`,
    () => `create event trigger ${name()} on ddl_command_end execute function ${relation()}()`,
    () =>
      `create rule ${name()} as on insert to ${relation()} do instead (${evil().startsWith('(') ? 'select 1' : `select ${evil()}`}; notify x)`,
    () => `create policy ${name()} on ${relation()} using (${evil()} is null)`,
    () =>
      `create cast (text as ${type()}) ${one(['with inout as implicit', `with function ${relation()}(text) as assignment`, 'without function'])}`,
    () => `create domain ${relation()} as ${type()} ${maybe(() => `default ${evil()}`)} check (${evil()} is null)`,
    () => `create type ${relation()} ${one([`as enum ('a', '${'b'.repeat(70)}')`, '(input = f, output = f)', `as (a ${type()})`, `as range (subtype = ${type()})`, ''])}`, // prettier-ignore
    () => `create operator ${schema()}= (leftarg = text, rightarg = text, function = ${relation()})`,
    () =>
      `create ${one(['view', 'materialized view', 'or replace view', 'recursive view'])} ${relation()} (a) as select ${evil()}`,
    () => `refresh materialized view ${relation()}`,
    () =>
      `create extension ${one(['dblink', 'file_fdw', 'postgres_fdw', 'plpython3u', 'citext', 'adminpack', 'pg_stat_statements'])} with schema public`,
    () =>
      `comment on ${one(['database', 'role', 'table', 'column', 'schema'])} ${one([database(), role(), relation()])} is 'mine'`,
    () => `security label on database ${database()} is 'mine'`,
    () => `select lo_create(${int(1e6)}), lo_open(1, 131072), lowrite(0, 'x')`,
  ];
  const statements: Rule[] = [
    ...around,
    table,
    () => `create table ${relation()} as select ${evil()}`,
    () => `create table ${relation()} partition of ${relation()} default`,
    () => `create table ${relation()} (like ${relation()} including all)`,
    () => `alter table ${relation()} ${one([`attach partition ${relation()} default`, `inherit ${relation()}`, 'enable row level security', `owner to ${role()}`, `add ${column()}`, `alter ${name()} set default ${evil()}`, `alter ${name()} type text using ${evil()}`, 'disable trigger all', 'set schema public', `set tablespace ${name()}`, `add constraint c check (${evil()} is null)`])}`, // prettier-ignore
    () => `insert into ${target()} ${maybe(() => '(id, title)')} ${maybe(() => 'overriding system value')} values ${many(8, () => `(${one(['1', '-2', 'null', literal()])}, ${one([`'a'`, literal(), literal()])})`, ', ')} ${random() < 0.2 ? one([`returning ${evil()}`, 'on conflict do nothing', `on conflict do update set a = ${evil()}`, `limit ${evil()}`, `order by ${evil()}`]) : ''}`, // prettier-ignore
    () => `insert into ${relation()} select ${evil()}`,
    () =>
      `with x as (${one(['delete from tasks returning 1', `select ${evil()}`])}) insert into ${relation()} values (1)`,
    () => one([`update ${relation()} set a = ${evil()}`, `delete from ${relation()}`, `truncate ${relation()}`, `merge into tasks using u on true when matched then delete`]), // prettier-ignore
    () => `set ${one(['', 'session', 'local'])} ${one(['search_path', 'role', 'session authorization', 'client_encoding', 'standard_conforming_strings', 'datestyle', 'timezone', 'log_statement', 'session_preload_libraries', 'default_transaction_read_only', 'statement_timeout', 'app.x'])} ${one(['=', 'to'])} ${one(['public', `''`, 'off', `'SJIS'`, 'postgres', 'default', `'a, b'`, '0', `'x'`])}`, // prettier-ignore
    () => `select ${one(['', 'pg_catalog.', 'public.'])}set_config('${one(['search_path', 'role', 'client_encoding', 'backslash_quote', 'datestyle'])}', ${one([`'public'`, `'app, "$user"'`, `'postgres'`, evil(), 'null'])}, ${one(['false', 'true'])})`, // prettier-ignore
    () => `select ${evil()}`,
    () => `alter database ${database()} ${one(['set datestyle = german', 'set synchronous_commit = off', 'is_template true', 'connection limit 0', 'allow_connections false', `owner to ${role()}`, 'reset all', 'set search_path = public', 'rename to gone'])}`, // prettier-ignore
    () => `alter role ${role()} ${one(['superuser', `in database ${database()} set work_mem = '1kB'`, `password 'x'`, 'nologin', 'set log_statement = none', 'connection limit 0', 'valid until $$2000-01-01$$'])}`, // prettier-ignore
    () => `grant ${role()} to ${role()}`,
    () => `do ${maybe(() => 'language plpgsql')} ${quoted()}`,
    () => `call ${relation()}()`,
    () => one([`create server s foreign data wrapper file_fdw`, `create user mapping for ${role()} server s options (password 'x')`, `import foreign schema public from server s into public`, `create subscription s connection 'host=127.0.0.1' publication p`]), // prettier-ignore
    () => `copy ${relation()} ${one([`from program 'touch ${names.mark}'`, `to program 'touch ${names.mark}'`, `from '/etc/passwd'`, `to '${names.mark}'`, 'to stdout'])}`, // prettier-ignore
    () => `copy (select 1) to program 'touch ${names.mark}'`,
    () => one(['commit', 'rollback', 'begin', 'end', 'savepoint x', 'rollback to x', `prepare transaction 'x'`, 'abort', 'commit and chain', 'start transaction read only']), // prettier-ignore
    () => one([`prepare p as select ${evil()}`, 'execute p', 'deallocate all', 'discard all', 'listen x', 'notify x', `load '${names.mark}'`, 'checkpoint', 'vacuum full', 'cluster', 'reindex database', 'lock table tasks', 'declare c cursor with hold for select 1', 'fetch c']), // prettier-ignore
    () => one(['alter system set log_statement = $$none$$', `create database mallory`, `drop database ${database()}`, `create tablespace x location '/tmp'`, 'drop schema public cascade', 'drop schema restored cascade', `drop owned by ${role()} cascade`, `reassign owned by ${role()} to ${names.loader}`, 'drop table if exists tasks cascade']), // prettier-ignore
    () => `${'select ('.repeat(int(3_000))}1`,
    () => `select 1${'+1'.repeat(int(20_000))}`,
    () => `select '${'x'.repeat(int(200_000))}`,
    () => `/* ${'/* '.repeat(int(100))} ; */ ${'*/ '.repeat(int(100))}`,
  ];
  const copyLine = () =>
    many(3, () => one(['1', 'x', '\\N', '\\\\.', '\\x41', '\\.', 'a\\tb', '\\', '"', "'; drop table t; --", '\u0000', '\u{1f600}', '\\restrict a', `\\! touch ${names.mark}`, 'x'.repeat(int(20_000))]), '\t'); // prettier-ignore
  const copyData = () =>
    `copy ${target()} ${random() < 0.1 ? `(${many(3, name, ', ')})` : ''} from ${one(['stdin', 'stdin', 'STDIN'])} ${random() < 0.2 ? one(['with (format csv)', 'with (format binary)', `with (delimiter ',')`, `delimiter e'\\n'`, `with (null '${literal().replaceAll("'", '')}')`, `where ${evil()} is null`, `with (encoding 'SJIS')`, 'with (header match)', 'with (freeze)', 'with (on_error ignore)']) : ''};\n${random() < 0.6 ? '1\tx\n2\t\\\\.\n' : ''}${random() < 0.5 ? '' : `${many(4, copyLine, one(['\n', '\r\n', '\r']))}\n`}${random() < 0.9 ? '\\.' : one(['\\.\r', '\\. ', '', '\\.;'])}\n`; // prettier-ignore
  const meta = () =>
    `\n\\${one(['! touch ', 'o |touch ', 'i /etc/passwd ', 'c template1 ', 'set x `touch ', 'restrict ', 'unrestrict ', 'gexec ', 'copy tasks to program touch '])}${names.mark}\n`;
  const tables = () =>
    ['tasks', 'u', 't'].map((each) => `create table public.${each} (id int, title ${one(['text', 'loop', 'public.mood', 'varchar(9)'])});\n`).join(''); // prettier-ignore
  const part = () => {
    const chance = random();
    if (chance < 0.25) return copyData();
    if (chance < 0.27) return meta();
    if (chance < 0.65) return `${one(around)()};\n`;
    return `${one(statements)()}${random() < 0.9 ? ';' : one([' ;', '; ;', ''])}\n`;
  };
  const begin = random() < 0.9 ? tables() : '';
  return `${maybe(() => '\ufeff')}${begin}${many(6, part, '')}`;
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
