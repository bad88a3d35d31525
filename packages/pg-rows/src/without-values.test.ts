import { createTestDatabase } from '@taskmesh/testing';
import { withoutValues } from './without-values.ts';

const SECRET = 'what-a-user-wrote';

const database = await createTestDatabase('values');
await database.query(`
  create table t (a int check (a < 9), b text unique); insert into t values (1, '${SECRET}'); create table loud (b text);
  create function shout() returns trigger language plpgsql as $$ begin raise '${SECRET}'; end $$;
  create trigger loud before insert on loud for each row execute function shout()`);

const shown = (error: unknown) =>
  [String(error), ...Object.values(error as object), (error as Error).stack, JSON.stringify(error)].join('\n');

const failure = (sql: string) => database.query(sql).then(String, (error: unknown) => withoutValues(error));

it.each([
  ['a value of another type', `insert into t values ('${SECRET}')`, 'PostgreSQL refuses a value (22P02)'],
  ['a duplicate row', `insert into t values (2, '${SECRET}')`, 'a row (23505, table t, constraint t_b_key)'],
  ['a row against a rule', `insert into t values (99, '${SECRET}')`, '(23514, table t, constraint t_a_check)'],
  ['a message of a trigger', `insert into loud values ('x')`, 'PostgreSQL refuses a statement (P0001)'],
  ['invalid SQL', `select '${SECRET}' '${SECRET}'`, 'PostgreSQL refuses a statement (42601)'],
  ['a missing table', 'select 1 from nowhere', 'relation "nowhere" does not exist'],
])('an error of PostgreSQL is reduced to its code and names: %s', async (_what, sql, text) => {
  const error = await failure(sql);
  expect(error).toMatchObject({ message: expect.stringContaining(text), code: expect.stringMatching(/^.{5}$/) });
  expect(shown(error)).not.toContain(SECRET);
});

it('an error that does not come from PostgreSQL stays unchanged', () => {
  const error = new Error('no');
  expect(withoutValues(error)).toBe(error);
});
