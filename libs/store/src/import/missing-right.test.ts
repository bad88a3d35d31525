import { createLog } from '@taskmesh/service';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { createImporter } from './create-importer.ts';
import type { StoreDatabase, StoreRules } from './store-rules.ts';

const role = `importer_${randomBytes(4).toString('hex')}`;
let live: TestDatabase;
let restored: TestDatabase;

beforeAll(async () => {
  live = await createTestDatabase('rights_live');
  restored = await createTestDatabase('rights_restored');
  await live.query(`create role ${role} login password 'secret'`);
  await restored.query(`create schema restored; create table restored.things (id int); create table things (id int)`);
  await restored.query('insert into restored.things values (1)');
});
afterAll(async () => {
  await restored.drop();
  await live.query(`drop role ${role}`);
  await live.drop();
});

const rules: StoreRules = {
  ...{
    table: 'things',
    columns: { id: { type: 'integer' } },
    needed: ['id'],
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

it('says which right the user lacks, and leaves what was restored as it is', async () => {
  await expect(importAs()).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message:
      "PostgreSQL does not let the service's user (POSTGRES_URL) import the store: permission denied for schema restored. The user must own the database.",
  });
  await restored.query(`grant usage on schema restored to ${role}; grant select on restored.things to ${role}`);
  await expect(importAs()).rejects.toThrow('import the store: permission denied for table things');
  expect(await restored.query('select id from restored.things')).toEqual([{ id: 1 }]);
});
