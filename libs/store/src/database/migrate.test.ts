import { Migration } from '@mikro-orm/migrations';
import { connectClient, createTestDatabase, eventually, type TestDatabase } from '@taskmesh/testing';
import { openDatabase } from '../../tests/open-database.ts';

let store: TestDatabase;

beforeEach(async () => {
  store = await createTestDatabase('migrate');
});

const open = (...migrations: string[][]) => openAt(store.url, migrations);

const openAt = (url: string, migrations: string[][]) =>
  openDatabase(url, {
    name: 'migrate',
    migrations: migrations.map((statements, index) => ({
      name: `000${index + 1}`,
      class: class extends Migration {
        override up(): void {
          for (const statement of statements) this.addSql(statement);
        }
      },
    })),
  });

const applied = async () =>
  (await store.query('select name from public.mikro_orm_migrations order by id')).map(({ name }) => name);
const waiting = (how: string) =>
  store.query(`select 1 from pg_stat_activity where datname = current_database() and ${how}`);
const TABLE = ['create table things (id int)', 'insert into things values (1)'];

it.each([
  ['does not own the database', 'select 1'],
  ['may not connect to it', 'revoke connect on database STORE from public'],
])(
  'names the missing privilege of a user who %s, without waiting for it',
  async (_what, prepare) => {
    const role = `stranger_${process.pid}`;
    await store.query(`create role ${role} login password 'secret'`);
    await store.query(prepare.replace('STORE', store.name));
    const url = Object.assign(new URL(store.url), { username: role, password: 'secret' });
    const database = await openAt(url.href, [TABLE]);
    const problem =
      /^PostgreSQL does not grant this user \(POSTGRES_URL\) enough privileges: .* must own the database$/;
    const failure = { name: 'ConfigError', problems: [expect.stringMatching(problem)] };
    await expect(database.migrate()).rejects.toMatchObject(failure);
    await store.query(`drop role ${role}`);
  },
  30_000,
);

it('a signal to stop while another instance migrates aborts the migration, and nothing is applied later', async () => {
  const holder = await connectClient(store.url, `select pg_advisory_lock(hashtext('taskmesh-migrations'))`);
  const stop = new AbortController();
  const aborted = expect((await open(TABLE)).migrate({ signal: stop.signal })).rejects.toThrow(/abort/i);
  await eventually(async () => expect(await waiting(`wait_event = 'advisory'`)).toHaveLength(1));
  stop.abort();
  await aborted;
  await holder.end();
  await eventually(async () => expect(await waiting(`application_name = 'taskmesh-migrate'`)).toEqual([]));
  expect(await store.query(`select to_regclass('things') as things`)).toEqual([{ things: null }]);
}, 30_000);

it('applies each migration once, with many instances at the same time', async () => {
  const instances = await Promise.all(Array.from({ length: 4 }, () => open(TABLE, ['select pg_sleep(0.3)'])));
  await Promise.all(instances.map((database) => database.migrate()));
  expect(await applied()).toEqual(['0001', '0002']);
  expect(await store.query('select * from things')).toEqual([{ id: 1 }]);
});

it('starts over when its connection ends in the middle, and leaves nothing half applied', async () => {
  const [one, other] = [await open(TABLE, ['select pg_sleep(1)']), await open(TABLE, ['select pg_sleep(1)'])];
  const migrating = Promise.all([one.migrate(), other.migrate()]);
  await eventually(async () => {
    const ended = await store.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and state = 'active' and query = 'select pg_sleep(1)'`,
    );
    expect(ended).toHaveLength(1);
  });
  await migrating;
  expect(await applied()).toEqual(['0001', '0002']);
  expect(await store.query('select * from things')).toEqual([{ id: 1 }]);
});

it('waits for a table that a long transaction has locked, without blocking others', async () => {
  await (await open(TABLE)).migrate();
  const long = await connectClient(store.url, 'begin', 'select * from things');
  const reader = await connectClient(store.url, `set statement_timeout = '20s'`);
  const database = await open(TABLE, ['alter table things add column late int']);
  let done = false;
  const migrating = database.migrate().then(() => (done = true));
  await eventually(async () => expect(await waiting(`wait_event_type = 'Lock'`)).toHaveLength(1));
  expect((await reader.query('select * from things')).rows).toEqual([{ id: 1 }]);
  expect(done).toBe(false);
  await long.query('commit');
  await migrating;
  expect(await applied()).toEqual(['0001', '0002']);
}, 180_000);

it('migrates up to a given version, and continues from there, whatever the search_path of the database', async () => {
  await store.query(`create schema elsewhere; alter database ${store.name} set search_path = elsewhere`);
  const database = await open(TABLE, ['alter table things add more int'], ['alter table things add most int']);
  await database.migrate({ to: '0002' });
  expect(await applied()).toEqual(['0001', '0002']);
  await database.migrate();
  expect(await applied()).toEqual(['0001', '0002', '0003']);
  expect(database.versions).toEqual(['0001', '0002', '0003']);
  const schema = `select table_schema as name from information_schema.tables where table_name = 'things'`;
  expect(await store.query(schema)).toEqual([{ name: 'public' }]);
});
