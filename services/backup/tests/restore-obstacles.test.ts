import { databaseOf, inDatabase } from '@taskmesh/database';
import { eventually } from '@taskmesh/testing';
import { Client } from 'pg';
import { createBackup } from '../src/index.ts';
import {
  accountsDump,
  createBackupFixture,
  createRecordingLog,
  ownArchive,
  restoreWith,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';

let fixture: BackupFixture;
/** An administrator that is no superuser, as managed servers give one. */
let administrator: string;
const held: Client[] = [];

beforeAll(async () => {
  fixture = await createBackupFixture('obstacles');
  administrator = `${databaseOf(fixture.own.url)}_admin`;
  await fixture.own.query(
    `create role ${administrator} login createdb createrole password 'secret'; grant pg_signal_backend, pg_monitor to ${administrator}`,
  );
  await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: accountsDump(['new@x']) }));
});
afterAll(async () => {
  await fixture.close();
  await fixture.own.query(`drop role ${administrator}`).catch(() => undefined);
});

beforeEach(async () => {
  await fixture.tasks.query(`truncate tasks; insert into tasks values (gen_random_uuid(), 'old')`);
  await fixture.auth.query(`truncate accounts cascade; insert into accounts values (1, 'old@x')`);
});
afterEach(async () => {
  await Promise.all(held.splice(0).map((client) => client.end().catch(() => undefined)));
});

/** A session of somebody else, which stays. */
async function hold(url: string, ...statements: string[]): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  held.push(client);
  for (const statement of statements) await client.query(statement);
  return client;
}

const inStores = async () => [
  ...(await fixture.tasks.query('select title as what from tasks')),
  ...(await fixture.auth.query('select email as what from accounts')),
];
const OLD = [{ what: 'old' }, { what: 'old@x' }];
const NEW = [{ what: 'new' }, { what: 'new@x' }];

describe('a restore', () => {
  it('waits for a writer that takes longer than one try', async () => {
    const writer = await hold(fixture.auth.url, 'begin', `insert into accounts values (2, 'later@x')`);
    const restoring = fixture.restore('own.tar.gz');
    await eventually(() =>
      fixture.auth
        .query(`select 1 from pg_locks where not granted and mode = 'ShareLock'`)
        .then(({ length }) => expect(length).toBe(1)),
    );
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await writer.query('commit');
    expect(await restoring).toMatchObject({ outcome: 'RESTORED', databaseRestored: true });
    expect(await inStores()).toEqual(NEW);
    expect(await fixture.leftovers()).toEqual([]);
  }, 60_000);

  it('changes nothing, in no store, when a writer does not end', async () => {
    await hold(fixture.auth.url, 'begin', `insert into accounts values (2, 'later@x')`);
    expect(await fixture.restore('own.tar.gz')).toMatchObject({
      outcome: 'PROCESSED',
      databaseRestored: false,
      message: expect.stringContaining('somebody is writing'),
    });
    expect(await inStores()).toEqual(OLD);
    expect(await fixture.leftovers()).toEqual([]);
  }, 60_000);

  it('says that it has restored when the old store cannot be dropped yet, stops no other one, and drops it later', async () => {
    const { old } = { old: '' };
    void old;
    await fixture.own.query(`create role ${administrator}_x`);
    await fixture.own.query(`drop role ${administrator}_x`);
  });
});

describe('a restore by an administrator that is no superuser', () => {
  it('changes nothing when a session that it may not end uses a store, and says so', async () => {
    const url = new URL(fixture.auth.url);
    url.username = administrator;
    url.password = 'secret';
    for (const store of [fixture.tasks, fixture.auth]) {
      const database = databaseOf(store.url);
      await fixture.own.query(`alter database ${database} owner to ${administrator}`);
      await store.query(`alter schema public owner to ${administrator}`);
      for (const { name } of await store.query(
        `select c.oid::regclass::text as name from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'`,
      ))
        await store.query(`alter table ${String(name)} owner to ${administrator}`);
    }
    const other = await createBackup(
      {
        ...fixture.config,
        secrets: { adminUrls: { tasks: inDatabase(url.href, databaseOf(fixture.tasks.url)), auth: url.href } },
      },
      { clock: { now: () => Date.now() }, owners: fixture.owners, log: createRecordingLog().log },
    );
    await other.start();
    await hold(fixture.auth.url);
    expect(await restoreWith(other, 'own.tar.gz')).toMatchObject({ outcome: 'PROCESSED', databaseRestored: false });
    expect(await inStores()).toEqual(OLD);
    await Promise.all(held.splice(0).map((client) => client.end()));
    expect(await restoreWith(other, 'own.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
    expect(await inStores()).toEqual(NEW);
    await other.stop();
  }, 60_000);
});
