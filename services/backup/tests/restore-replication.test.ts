import { eventually } from '@taskmesh/testing';
import { Client } from 'pg';
import { bothStores, createBackupFixture } from './support/backup-fixture.ts';
import { startSecondServer } from './support/second-server.ts';

const authServer = await startSecondServer(`wal_level = 'logical'\nmax_prepared_transactions = 2\n`);

const fixture = await createBackupFixture('replication', { authServer });
await fixture.archive('own.tar.gz', bothStores('new'));

beforeEach(() => fixture.fillStores('old', 'old@x'));
afterEach(() => eventually(async () => expect(await fixture.leftovers()).toEqual([]), { timeoutMs: 40_000 }), 180_000);

it('a restore of stores on two servers changes neither while a prepared transaction uses one of them', async () => {
  await fixture.auth.query(`begin; select 1; prepare transaction 'forgotten'`);
  const end = await fixture.withOther({ timeouts: { renameMs: 300 } }, (other) => other.restore('own.tar.gz'));
  expect(end).toMatchObject({ outcome: 'PROCESSED', databaseRestored: false });
  expect(await fixture.inStores()).toEqual(['old', 'old@x']);
  await fixture.auth.query(`rollback prepared 'forgotten'`);
}, 180_000);

it('a restore ends the reader of a replication slot of a store, and drops the slot with the store', async () => {
  await fixture.auth.query(`create publication p for all tables`);
  await fixture.auth.query(`select pg_create_logical_replication_slot('reader', 'pgoutput')`);
  const reader = new Client({ connectionString: fixture.auth.url, replication: 'database' } as object);
  let ended = false;
  reader.on('error', () => undefined);
  reader.on('end', () => (ended = true));
  await reader.connect();
  reader
    .query(`START_REPLICATION SLOT reader LOGICAL 0/0 (proto_version '1', publication_names 'p')`)
    .catch(() => undefined);
  const slots = () => fixture.auth.query(`select active from pg_replication_slots where slot_name = 'reader'`);
  await eventually(async () => expect(await slots()).toEqual([{ active: true }]));
  const { databaseRestored } = await fixture.restore('own.tar.gz');
  expect([databaseRestored, await fixture.inStores()]).toEqual([true, ['new', 'new@x']]);
  expect(ended).toBe(true);
  await eventually(async () => expect(await slots()).toEqual([]), { timeoutMs: 40_000 });
}, 180_000);
