import { inDatabase } from '@taskmesh/store';
import { connectClient, createProxyFor, eventually } from '@taskmesh/testing';
import { maintenanceUrl } from '../src/databases/connect.ts';
import { bothStores, createBackupFixture, figureOf } from './support/backup-fixture.ts';
import { query } from './support/databases.ts';

const NOT_RESTORED = { success: true, outcome: 'PROCESSED', databaseRestored: false };
const OLD = ['old', 'old@x'];
const NEW = ['new', 'new@x'];

const fixture = await createBackupFixture('obstacles', { timeouts: { writersMs: 6_000 } });
await fixture.archive('own.tar.gz', bothStores('new'));

beforeEach(() => fixture.fillStores('old', 'old@x'));
afterEach(() => eventually(async () => expect(await fixture.leftovers()).toEqual([]), { timeoutMs: 40_000 }), 180_000);

/** Like a copy of a store, this locks the name of its database until the transaction ends. */
const holdName = () =>
  connectClient(maintenanceUrl(fixture.own.url), 'begin', `comment on database ${fixture.tasks.name} is 'held'`);

describe('a restore', () => {
  it('waits for a writer that takes longer than one attempt', async () => {
    const writer = await connectClient(fixture.auth.url, 'begin', `insert into accounts values (2, 'later@x')`);
    const tries = new Set<string>();
    const restoring = fixture.restore('own.tar.gz');
    const waits = `select waitstart as since from pg_locks where not granted and mode = 'ShareLock' and database = (select oid from pg_database where datname = current_database())`;
    await eventually(async () => {
      for (const { since } of await fixture.auth.query(waits)) tries.add(String(since));
      expect(tries.size).toBe(2);
    });
    await writer.query('commit');
    expect(await restoring).toMatchObject({ outcome: 'RESTORED', databaseRestored: true });
    expect(await fixture.inStores()).toEqual(NEW);
  }, 180_000);

  it('never changes any store if a writer does not finish', async () => {
    const writer = await connectClient(fixture.auth.url, 'begin', `insert into accounts values (2, 'later@x')`);
    const end = await fixture.withOther({ timeouts: { writersMs: 1_000 } }, (other) => other.restore('own.tar.gz'));
    expect(end).toMatchObject({ ...NOT_RESTORED, message: expect.stringContaining('writers did not stop') });
    expect(await fixture.inStores()).toEqual(OLD);
    await writer.end();
    const newest = 'select stage from restores order by started_at desc limit 1';
    expect(await fixture.own.query(newest)).toEqual([{ stage: 'undone' }]);
  }, 180_000);

  it('ends long transactions that only read, and replaces stores that are flagged as templates', async () => {
    await connectClient(fixture.auth.url, 'begin', 'select * from accounts');
    await connectClient(fixture.tasks.url, 'begin', `insert into tasks values (gen_random_uuid(), 'going on')`);
    const flag = async (isTemplate: boolean) => {
      for (const { name } of [fixture.tasks, fixture.auth])
        await fixture.own.query(`alter database ${name} is_template ${isTemplate}`);
    };
    await flag(true);
    expect(await fixture.restore('own.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(NEW);
    await flag(false); // the restore keeps the operator's flag, and such databases cannot be dropped
  }, 180_000);

  it('changes nothing while someone copies a store', async () => {
    const holder = await holdName();
    const end = await fixture.withOther({ timeouts: { renameMs: 300 } }, (other) => other.restore('own.tar.gz'));
    expect(end).toMatchObject(NOT_RESTORED);
    await holder.end();
    expect(await fixture.inStores()).toEqual(OLD);
  }, 180_000);

  it('that loses its server and its journal during the swap reports an unknown outcome, and settles it later', async () => {
    const { proxy, url } = await createProxyFor(fixture.own.url);
    const adminUrls = { tasks: inDatabase(url, fixture.tasks.name), auth: inDatabase(url, fixture.auth.name) };
    const behindProxy = { postgresUrl: inDatabase(url, fixture.own.name), secrets: { adminUrls } };
    const holder = await holdName(); // the first rename waits for it until the server is lost
    await fixture.withOther(behindProxy, async (other) => {
      const restoring = other.restore('own.tar.gz');
      const swapping = `select 1 from restores where stage = 'swapping'`;
      await eventually(async () => expect(await fixture.own.query(swapping)).toHaveLength(1));
      await proxy.cut();
      const error = expect.stringContaining('not known yet');
      expect(await restoring).toMatchObject({ success: false, databaseRestored: false, outcome: 'UNKNOWN', error });
      expect(await figureOf(other, 'restores_unsettled')).toBe(1);
      await holder.end();
      await proxy.restore();
      await eventually(async () => expect(await figureOf(other, 'restores_unsettled')).toBe(0), { timeoutMs: 40_000 });
    });
    expect(await fixture.inStores()).toEqual(OLD);
  }, 180_000);

  it('succeeds even if a former store cannot be dropped yet, which does not block others and is done later', async () => {
    // A database with a subscription cannot be dropped, but it can be renamed.
    await fixture.tasks.query(`create subscription obstacle connection '' publication p with (connect = false)`);
    const message = expect.stringMatching(/^Database restored; .*could not be removed yet/);
    const restored = { success: true, databaseRestored: true, outcome: 'RESTORED_CLEAN_UP_PENDING', message };
    expect(await fixture.restore('own.tar.gz')).toMatchObject(restored);
    expect(await fixture.inStores()).toEqual(NEW);
    const labels = { work: 'restore', outcome: 'restored-clean-up-pending' };
    expect(await figureOf(fixture, 'restores_total', labels)).toBe(1);
    await eventually(async () => expect(await figureOf(fixture, 'restore_leftovers')).toBe(1));

    await fixture.archive('next.tar.gz', bothStores('next'));
    expect(await fixture.restore('next.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(['next', 'next@x']);

    const left = await fixture.leftovers();
    expect(left).toEqual([expect.stringMatching(`${fixture.tasks.name}_.*_old_`)]);
    await fixture.own.query(`alter database ${left[0]} allow_connections true`);
    const leftUrl = inDatabase(fixture.own.url, left[0] ?? '');
    await query(leftUrl, 'alter subscription obstacle set (slot_name = none)');
    await query(leftUrl, 'drop subscription obstacle');
    await eventually(async () => expect(await fixture.leftovers()).toEqual([]), { timeoutMs: 40_000 });
    await eventually(async () => expect(await figureOf(fixture, 'restore_leftovers')).toBe(0));
  }, 180_000);
});
