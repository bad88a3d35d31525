import { loadModule, parseSync } from 'libpg-query';
import { createDumpSchema } from './dump-schema.ts';
import { planStatement } from './plan-statement.ts';

beforeAll(() => loadModule());

function read(script: string): void {
  const schema = createDumpSchema({ schema: 'restored' });
  for (const { stmt } of parseSync(script).stmts ?? []) if (stmt) planStatement(schema, stmt);
}

describe('a statement after which rows would be others than the dump says', () => {
  const changed = 'cannot be changed in that way';
  const leftOut = 'the column "a" is left out, and its default value is not taken over';

  it.each([
    ['a column that goes', 'create table t (a int, b int); alter table t drop column b', changed],
    ['a column of another type', 'create table t (a int); alter table t alter a type text', changed],
    [
      'a partition that goes',
      'create table t (a int) partition by list (a); create table p partition of t default; alter table t detach partition p',
      changed,
    ],
    [
      'an inheritance that ends',
      'create table t (a int); create table c () inherits (t); alter table c no inherit t',
      changed,
    ],
    [
      'a generated column that is one no more',
      'create table t (a int, b int generated always as (a) stored); alter table t alter b drop expression',
      changed,
    ],
    [
      'a part of a table whose rows were passed over',
      'create schema app; create table app.p (a int); create table t (a int); copy app.p from stdin; alter table app.p inherit t',
      'after its rows were passed over',
    ],
    [
      'a schema that goes with its tables',
      'create schema app; create table app.t (a int); drop schema app cascade',
      'a schema of the dump cannot be dropped',
    ],
    [
      'a new column with a default that calls what is not ours',
      'create table t (a int); alter table t add b int default f()',
      'a column is added whose default value is not taken over',
    ],
    [
      'a default that calls what only has a name of ours',
      'create table t (a timestamptz default app.now(), b int); insert into t (b) values (1)',
      leftOut,
    ],
    [
      'a default that calls ours with something',
      'create table t (a timestamptz default now(1), b int); insert into t (b) values (1)',
      leftOut,
    ],
    [
      'a value by default that calls what is not ours',
      'create table t (a int default f()); insert into t values (default)',
      'the default value of the column "a" is not taken over',
    ],
    [
      'a default as in another table',
      'create table u (a int default 1, b int); create table t (like u including all); insert into t (b) values (1)',
      leftOut,
    ],
    [
      'an identity',
      'create table t (a int generated always as identity, b int); insert into t (b) values (1)',
      leftOut,
    ],
    [
      'an identity that comes later',
      'create table t (a int, b int); alter table t alter a add generated always as identity; copy t (b) from stdin',
      leftOut,
    ],
    [
      'a type that gives values',
      'create domain d as int default 7; create table t (a d, b int); insert into t (b) values (1)',
      leftOut,
    ],
  ])('is refused: %s', (_what, script, message) => {
    expect(() => read(script)).toThrow(message);
  });
});
