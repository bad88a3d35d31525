import { databaseOf } from '../database/index.ts';
import { SESSION_LIMITS } from '../database/testing/index.ts';
import { createTestDatabase } from '@taskmesh/testing';
import { openImportSession } from './import-session.ts';

it('never repeats in an error what a row holds', async () => {
  const secret = 'what-a-user-wrote';
  const database = await createTestDatabase('values');
  await database.query(`create table t (a int, b text unique); insert into t values (1, '${secret}')`);
  const session = await openImportSession(database.url, { name: 'values', timeoutMs: 5_000 });
  try {
    const put = { name: 'put', text: 'insert into public.t values (2, $1)' };
    const error = await session.run(put, [secret]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: '23505', table: 't' });
    const shown = [String(error), ...Object.values(error as object), (error as Error).stack, JSON.stringify(error)];
    expect(shown.join('\n')).not.toContain(secret);
  } finally {
    await session.close();
    await database.drop();
  }
});

it('lasts as long as its work, whatever the operator has set for sessions in general', async () => {
  const database = await createTestDatabase('limits');
  const limits = await database.query(SESSION_LIMITS);
  for (const { name } of limits) await database.query(`alter database ${databaseOf(database.url)} set ${name} = '1s'`);
  const session = await openImportSession(database.url, { name: 'limits', timeoutMs: 5_000 });
  try {
    for (const { name } of limits)
      expect(await session.run({ name: `show-${name}`, text: `show ${name}` })).toEqual([{ [String(name)]: '0' }]);
    expect(await session.run({ name: 'show', text: 'show statement_timeout' })).toEqual([{ statement_timeout: '5s' }]);
  } finally {
    await session.close();
    await database.drop();
  }
});

it('writes to a store that the operator has frozen until it is restored', async () => {
  const database = await createTestDatabase('frozen');
  await database.query(`alter database ${databaseOf(database.url)} set default_transaction_read_only = on`);
  const session = await openImportSession(database.url, { name: 'frozen', timeoutMs: 5_000 });
  try {
    await session.run({ name: 'create', text: 'create table public.t ()' });
    expect(await session.run({ name: 'count', text: 'select count(*)::int as n from public.t' })).toEqual([{ n: 0 }]);
  } finally {
    await session.close();
    await database.drop();
  }
});
