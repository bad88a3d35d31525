import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LoadError } from '../src/index.ts';
import { createLoading, genuineDump } from './loading.ts';

const { load, query, dir } = await createLoading('refuse');
const HEAD = '--\n-- PostgreSQL database dump\n--\n';
const TAIL = '-- PostgreSQL database dump complete\n';
const TABLE = 'create table t (a int);\n';
const LONG = 'insert into t values (1);\n'.repeat(250);
const nested = (depth: number) => `create table t (a int default ${'('.repeat(depth)}1${')'.repeat(depth)});`;

it.each<[what: string, dump: () => string | Promise<string>, message: string]>([
  ['an invalid number in one of many rows', () => `${TABLE}${LONG}insert into t values ('x');\n${LONG}`, 'Line 252: '],
  [
    'an invalid row',
    () => `${TABLE}copy t from stdin;\nx\n\\.\n`,
    'Line 2: invalid input syntax for type integer: "x"',
  ],
  ['a shell command after a statement', () => 'create table t (); \\! touch $MARK\n', 'command for psql'],
  [
    'no SQL after comments and COPY data',
    () => `-- a\n\n${TABLE}copy t from stdin;\n1\n2\n\\.\n\nselect\n2 from;`,
    'Line 9: it is not SQL',
  ],
  [
    'a setting with a statement in it',
    () => "create table t (a int); set timezone = 'UTC'', true); create view restored.v as select 1; --';",
    'Line 1: invalid value for parameter "TimeZone"',
  ],
  [
    'several statements that look like one',
    () => `${TABLE}create function f() returns begin.atomic language sql as 'x'; insert into t values (1); end;`,
    'several statements look like one',
  ],
  ['very deep nesting', () => nested(30_000), 'Line 1:'],
  ['very many operators', () => `select ${'1+'.repeat(30_000)}1;`, 'Line 1:'],
  ['a commit, then an error', () => 'create table t (); commit; selec;', 'not SQL'],
  ['the custom format', () => 'PGDMP\x01\x0e\0\x04;', 'custom format'],
  ['a part of a dump by pg_dump', async () => (await genuineDump()).split('\\.\n')[0] ?? '', 'does not end like one'],
  ['a last line that is cut', () => HEAD + TABLE + TAIL.slice(0, -5), 'is incomplete'],
  ['the end marker inside a line, after a byte order mark', () => `\ufeff${HEAD}-- x ${TAIL}`, 'is incomplete'],
  ['the end marker far from the end', () => HEAD + TABLE + TAIL + LONG, 'is incomplete'],
  ['CRLF line ends, cut', () => (HEAD + TABLE).replaceAll('\n', '\r\n'), 'is incomplete'],
])('a dump with %s is rejected; no row is loaded and no command run', async (_what, dump, message) => {
  const mark = join(dir, 'mark');
  const failure = await load((await dump()).replaceAll('$MARK', mark)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LoadError);
  expect(String(failure)).toContain(message);
  expect(existsSync(mark)).toBe(false);
  const made = `select relname from pg_class where relnamespace in ('public'::regnamespace, 'restored'::regnamespace)`;
  expect(await query(made)).toEqual([]);
});

it.each([
  ['CRLF line ends', (HEAD + TABLE + TAIL).replaceAll('\n', '\r\n')],
  ['a byte order mark, blank lines, and text after its end', `\ufeff\n \n${HEAD}${TABLE}${TAIL}\n-- abc\n`],
  ['only a mention of pg_dump, or of its custom format', `${TABLE}-- PGDMP ${HEAD}`],
])('a dump with %s is loaded', async (_what, dump) => {
  expect(await load(dump)).toMatchObject({ statements: 1, bytes: Buffer.byteLength(dump) });
  await query('drop table restored.t');
});
