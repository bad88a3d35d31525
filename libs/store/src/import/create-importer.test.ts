import { atEnd, createTestDatabase } from '@taskmesh/testing';
import { ConfigError, createLog } from '@taskmesh/service';
import { randomBytes } from 'node:crypto';
import { databaseOf } from '../database/connection.ts';
import { SESSION_LIMITS } from '../../tests/schema.ts';
import { createImporter, openImportSession } from './create-importer.ts';
import type { StoreDatabase, StoreRules } from './restored-tables.ts';

it('reads and writes correctly whatever the operator has set, and quotes no row in errors', async () => {
  const secret = 'what-a-user-wrote';
  const database = await createTestDatabase('import_session');
  await database.query(`create table t (a int, b text unique); insert into t values (1, '${secret}')`);
  const limits = await database.query(SESSION_LIMITS);
  const set = (setting: string) => database.query(`alter database ${databaseOf(database.url)} set ${setting}`);
  for (const { name } of limits) await set(`${name} = '1s'`);
  await set('default_transaction_read_only = on'); // a store that is read-only until it is restored
  const session = await openImportSession(database.url, { name: 'import', timeoutMs: 5_000 });
  for (const { name } of limits) expect(await session.run(`show ${name}`)).toEqual([{ [String(name)]: '0' }]);
  expect(await session.run('show statement_timeout')).toEqual([{ statement_timeout: '5s' }]);
  expect(await session.run('insert into public.t values (2, $1) returning a', ['another'])).toEqual([{ a: 2 }]);
  const error = await session.run('insert into public.t values (3, $1)', [secret]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: '23505', table: 't' });
  const shown = [String(error), ...Object.values(error as object), (error as Error).stack, JSON.stringify(error)];
  expect(shown.join('\n')).not.toContain(secret);
  await session.close();
  await database.drop();
});

const role = `importer_${randomBytes(4).toString('hex')}`;

const live = await createTestDatabase('rights_live');
atEnd(() => live.query(`drop role ${role}`));
const restored = await createTestDatabase('rights_restored');
await live.query(`create role ${role} login password 'secret'`);
await restored.query(`create schema restored; create table restored.things (id int); create table things (id int)`);
await restored.query('insert into restored.things values (1)');

const rules: StoreRules = {
  ...{
    table: 'things',
    columns: { id: { type: 'integer' } },
    required: ['id'],
    values: [],
    duplicates: '',
    tables: {},
  },
  rulesFor: () => [],
  complete: async () => undefined,
};

const importAs = (store: Partial<StoreDatabase> = {}) =>
  createImporter({
    name: 'rights',
    url: Object.assign(new URL(live.url), { username: role, password: 'secret' }).href,
    databaseAt: async () => ({ versions: [], migrate: async () => undefined, close: async () => undefined, ...store }),
    rules,
    log: createLog({ service: 'rights', level: 'silent' }),
  }).importDatabase(new URL(restored.url).pathname.slice(1));

it('names the missing privilege of the user, and leaves the restored database unchanged', async () => {
  const message =
    "The service's user (POSTGRES_URL) lacks privileges to import the store: permission denied for schema restored. The user must own the database.";
  await expect(importAs()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message });
  await restored.query(`grant usage on schema restored to ${role}; grant select on restored.things to ${role}`);
  await expect(importAs()).rejects.toThrow('import the store: permission denied for table things');
  const migrate = () => Promise.reject(new ConfigError(['The schema is newer', 'Update the service']));
  await expect(importAs({ migrate })).rejects.toThrow('The schema is newer. Update the service.');
  const lost = { name: 'Error', code: '42P01', message: 'relation "public.t" does not exist' };
  await expect(
    importAs({ migrate: () => Promise.reject(Object.assign(new Error(lost.message), lost)) }),
  ).rejects.toMatchObject({
    code: 'CONFLICT',
    message: `A store is damaged: ${lost.message}. How to replace a live one: docs/backup.md.`,
  });
  expect(await restored.query('select id from restored.things')).toEqual([{ id: 1 }]);
});
