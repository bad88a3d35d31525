import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LoadError } from '../src/index.ts';
import { createLoading, genuineDump } from './loading.ts';

const database = await createLoading('refuse');
const load = (dump: string | Buffer) => database.load(dump);
const tables = () =>
  database.query(
    `select relname from pg_class where relnamespace in ('public'::regnamespace, 'restored'::regnamespace) and relkind = 'r' order by 1`,
  );

describe('a dump that is rejected', () => {
  afterEach(async () => {
    expect(await tables()).toEqual([]);
  });

  it.each([
    [
      'an invalid number in one of many rows',
      `create table t (a int);\n${'insert into t values (1);\n'.repeat(250)}insert into t values ('x');\n${'insert into t values (1);\n'.repeat(99)}`,
      'Line 252: ',
    ],
    ['a shell command', '\\! touch $MARK\ncreate table t ();', 'command for psql'],
    ['a shell command after a statement', 'create table t (); \\! touch $MARK\n', 'command for psql'],
    ['back-quotes', '\\set x `touch $MARK`\n', 'command for psql'],
    ['a query piped to a command', 'select 1 \\g | touch $MARK\n;', 'no SQL'],
    [
      'a setting with a statement in it',
      "create table t (a int); set timezone = 'UTC'', true); create view restored.v as select 1; --';",
      'Line 1: invalid value for parameter "TimeZone"',
    ],
    [
      'several statements that look like one',
      "create table t (a int); create function f() returns begin.atomic language sql as 'x'; insert into t values (1); end;",
      'several statements look like one',
    ],
    ['very deep nesting', `create table t (a int default ${'('.repeat(30_000)}1${')'.repeat(30_000)});`, 'Line 1:'],
    ['very many operators', `select ${'1+'.repeat(30_000)}1;`, 'Line 1:'],
    [
      'a statement that is too long',
      `create table t (${'a int,'.repeat(20_000)} b int);`,
      'statement of line 1 is too long',
    ],
    ['a comment that is too long', `/*${' '.repeat(3_000_000)}*/ select 1;`, 'is too long'],
    [
      'an invalid row',
      'create table t (a int);\ncopy t from stdin;\nx\n\\.\n',
      'Line 2: invalid input syntax for type integer: "x"',
    ],
    ['a commit, then an error', 'create table t (); commit; selec;', 'no SQL'],
    ['binary rubbish', Buffer.from('00ff00ff3b', 'hex').toString('latin1'), 'zero bytes'],
    ['a custom-format dump', 'PGDMP\x01\x0e\0\x04;', 'custom format'],
  ])('is rejected without running any command: %s', async (_what, sql, message) => {
    const mark = join(database.dir, 'mark');
    const failure = await load(sql.replaceAll('$MARK', mark)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LoadError);
    expect(String(failure)).toContain(message);
    expect(existsSync(mark)).toBe(false);
  });

  it('is a truncated dump of pg_dump', async () => {
    const dump = await genuineDump();
    await expect(load(dump.slice(0, dump.indexOf('\\.\n')))).rejects.toThrow('does not end as one');
  });
});
