import { createRandom } from '@taskmesh/testing';

/** Names for the random words of hostile dumps; the same seed gives the same words. */
export interface Names {
  live: string;
  fresh: string;
  loader: string;
  /** A file that no statement may create. */
  mark: string;
}

export type Rule = () => string;

export type Words = ReturnType<typeof createWords>;

export function createWords(seed: number, { live, fresh, loader, mark }: Names) {
  const random = createRandom(seed);
  const int = (below: number) => Math.floor(random() * below);
  const one = <Value>(values: readonly Value[]): Value => values[int(values.length)] as Value;
  const many = (most: number, rule: Rule, separator: string) =>
    Array.from({ length: 1 + int(most) }, rule).join(separator);
  const maybe = (rule: Rule, share = 0.4) => (random() < share ? rule() : '');

  const schema = () => one(['', '', '', 'public.', 'public.', 'pg_catalog.', 'restored.', 'information_schema.', 'app.', 'pg_temp.']); // prettier-ignore
  const name = () =>
    one([
      ...['t', 'u', 'tasks', '"T"', '"a;b"', '"a""b"', '"; drop table x; --"', 'pg_database', 'pg_class', 'pg_authid'],
      ...['pg_roles', 'pg_get_userbyid', 'pg_terminate_backend', 'text', 'int4', '"pg_toast"', 'ünïcode', '"\u202e"'],
      ...['"\u{1f600}"', 'U&"d\\0061t"', 'x'.repeat(63), 'y'.repeat(64), `"${'é'.repeat(40)}"`, `"${'z'.repeat(300)}"`],
      ...['"values"', 'restored', '"$user"', '"user"'],
    ]);
  const relation = () => `${schema()}${name()}`;
  /** Returns a table that exists, mostly. */
  const target = () => (random() < 0.85 ? one(['tasks', 'public.u', 't', 'public.tasks']) : relation());
  const database = () => one([live, fresh, 'postgres', 'template1']);
  const role = () => one([loader, 'postgres', 'mallory', 'current_user', 'session_user']);
  const namedRole = () => one([loader, 'postgres', 'mallory', 'pg_execute_server_program', 'pg_write_server_files']);

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
      ],
      ...['regclass', 'xml', 'serial', 'text[]', 'loop', 'mood', 'citext', 'hstore', relation(), 'pg_node_tree'],
      ...['internal', 'anyelement', 'record'],
    ]);
  /** Returns an expression that would have an effect, or never end. */
  const evil = () =>
    one([
      ...['pg_sleep(100000)', `pg_read_file('/etc/passwd')`, `lo_export(1, '${mark}')`, `lo_import('/etc/passwd')`],
      ...['pg_terminate_backend(pg_backend_pid())', `set_config('role', 'postgres', false)`, 'f()', 'public.f()'],
      ...[`dblink('host=127.0.0.1', 'select 1')`, `query_to_xml('drop role x', true, true, '')`, `nextval('s')`],
      ...[`(select rolpassword from pg_authid limit 1)`, 'pg_advisory_lock(1)', 'pg_reload_conf()', 'pg_switch_wal()'],
      ...[
        `repeat('x', 1000000000)`,
        'generate_series(1, 1000000000000)',
        `pg_notify('x', 'y')`,
        `currval('s'::regclass)`,
      ],
      ...[`'x' operator(public.||) 'y'`, `pg_create_restore_point('x')`, `pg_create_physical_replication_slot('x')`],
      ...[`pg_logical_emit_message(false, 'x', 'y')`, `pg_replication_origin_create('x')`, `setval('s', 99)`],
      ...[`lo_from_bytea(0, 'x')`, `lo_from_bytea(0, 'x')`, 'lo_create(0)'],
      ...[`pg_stat_reset()`, `pg_promote()`, `txid_current()`, `pg_file_write('${mark}', 'x', false)`],
    ]);
  /** Returns a literal that a program breaks out of if it does not quote it again. */
  const breakout = (quote: string, text: string, rest: string) =>
    `${quote}${text}${quote}${quote}${rest}; create view restored.v as select 1; --${quote}`;
  const body = () =>
    one([
      `begin execute 'alter database ${database()} set datestyle = german'; return null; end`,
      `begin execute 'create role mallory superuser'; return null; end`,
      `begin copy (select 1) to program 'touch ${mark}'; return null; end`,
      `begin loop perform pg_sleep(1); end loop; end`,
      `; \\! touch ${mark}\n end $b$; drop table tasks; $b$`,
    ]);
  const quoted = () => one([`$b$ ${body()} $b$`, `'${body().replaceAll("'", "''")}'`]);
  const literal = () =>
    one([
      ...['1', '-1', '0x1f', '1e999', '1e131071', `''`, `'it''s'`, `e'\\'; drop table t; --'`, `'\\'`, `U&'\\0027'`],
      ...[`$$;'$$`, `$a$ $$ ; $b$ $a$`, `b'01'`, `x'zz'`, 'null', 'default', 'true', `'x'::text`],
      ...[`'1e131071'::numeric::text`, 'array[1,2]', `array[[${evil()}]]`, 'row(1,2)', 'now()', 'current_timestamp'],
      ...['current_user', evil(), `(${evil()})`, `- ${evil()}`, `cast(${evil()} as text)`, `('a' || 'b')`],
      ...[`'${'x'.repeat(int(3_000))}'`, `${'('.repeat(int(200))}1`, `n'x'`, `interval '1 day'`, `'a' collate "C"`],
      ...['$1', '@ -1', `'x'\n'y'`, `'x'::regclass`, `'pg_class'::regclass::oid`],
    ]);
  const column = () =>
    `${name()} ${type()} ${maybe(() =>
      one([`default ${evil()}`, `check (${evil()} is null)`, 'primary key', 'not null', `collate ${relation()}`, `references ${relation()}`,
        `generated always as (${evil()}) stored`, `generated always as identity`, `default ${literal()}`, 'storage plain compression lz4']))}`; // prettier-ignore
  const columns = () => many(4, column, ', ');

  return {
    ...{ random, int, one, many, maybe },
    ...{
      schema,
      name,
      relation,
      target,
      database,
      role,
      namedRole,
      type,
      evil,
      breakout,
      quoted,
      literal,
      column,
      columns,
    },
    ...{ loader, mark },
  };
}
