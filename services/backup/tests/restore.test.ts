import { atEnd, connectClient } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { DEFAULT_SIZES } from '../src/archives/limits.ts';
import { createFreshDatabase, dropFresh } from '../src/databases/fresh-database.ts';
import { restoreNames } from '../src/databases/names.ts';
import type { StoreOwner } from '../src/index.ts';
import { loadLimits } from '../src/restore/watch-database.ts';
import { accountsDump, bothStores, createBackupFixture, ownArchive, tasksDump } from './support/backup-fixture.ts';
import { catalogueOf } from './support/catalogue.ts';
import { asRole } from './support/databases.ts';
import { createOwners } from './support/store-owners.ts';

const OLD = ['old', 'old@x'];
const NEW = ['new', 'new@x'];

const fixture = await createBackupFixture('restore');
await fixture.archive('own.tar.gz', bothStores('new'));
await fixture.archive('bad-auth.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: 'selec;' }));
await fixture.archive('foreign.tar.gz', { 'database.sql': tasksDump(['new']) });
beforeEach(() => fixture.fillStores('old', 'old@x'));
afterEach(async () => expect(await fixture.leftovers()).toEqual([]));

// tests/operate/journey/restore.ts has the rules about names that lead outside or nowhere.
describe('the rules of a restore', () => {
  it('1: a file must be named', async () => {
    const end = { success: false, databaseRestored: false, outcome: 'FILE_MISSING', error: expect.any(String) };
    expect(await fixture.restore('')).toMatchObject(end);
  });

  it('6 and 9: the dump replaces the store; anything but rows is skipped and reported', async () => {
    const around = `create function f() returns int language sql as 'select 1'; create function g() returns int language sql as 'select 1';
      create view v as select 1; grant all on tasks to public;`;
    await fixture.archive('good.tar.gz', { 'database.sql': tasksDump(['one']) + around });
    const skipped = [
      { kind: 'function', count: 2 },
      { kind: 'grant', count: 1 },
      { kind: 'view', count: 1 },
    ];
    const message = 'Database restored; the application may need a restart.';
    const restored = { success: true, databaseRestored: true, outcome: 'RESTORED', error: null, safetyBackup: null };
    expect(await fixture.restore('good.tar.gz')).toEqual({ ...restored, message, skipped });
    expect(await fixture.inStores()).toEqual(['one', 'old@x']);
    expect(await fixture.tasks.query('select epoch from feed_state')).toEqual([{ epoch: 2 }]);
    expect(fixture.logged).toContainEqual(expect.objectContaining({ msg: 'dump loaded', skipped }));
  });

  it.each([
    ['a forbidden statement', 'do $$ $$;', 'the dump was not accepted: Line 1: DoStmt is not allowed in a dump'],
    ['another store', accountsDump(['a@x']), 'the dump does not make a complete store: There is no table tasks'],
    ['rows that break the rules', tasksDump(['ok!', 'x']), 'the database step failed, see the log'],
    ['nothing', undefined, 'it contains no database.sql'],
  ])('7: a dump with %s leaves the store unchanged, and the failure is logged', async (_what, dump, why) => {
    await fixture.archive('faulty.tar.gz', dump === undefined ? { 'readme.txt': '' } : { 'database.sql': dump });
    fixture.logged.length = 0;
    const message = `Archive processed: the database was not restored (${why}). No restart is needed.`;
    const processed = { success: true, databaseRestored: false, outcome: 'PROCESSED', error: null };
    expect(await fixture.restore('faulty.tar.gz')).toMatchObject({ ...processed, message });
    expect(await fixture.inStores()).toEqual(OLD);
    const line = { level: 'error', msg: 'database not restored', file: 'faulty.tar.gz', err: expect.anything() };
    expect(fixture.logged).toContainEqual(expect.objectContaining(line));
  });

  it('7: an unavailable server leaves the store unchanged', async () => {
    const nowhere = 'postgres://postgres@127.0.0.1:1/tasks';
    const secrets = { adminUrls: { tasks: nowhere, auth: nowhere } };
    const end = await fixture.withOther({ secrets }, (other) => other.restore('foreign.tar.gz'));
    expect(end).toMatchObject({ success: true, outcome: 'PROCESSED' });
    await fixture.own.query(`update restores set ended_at = now() where ended_at is null`); // no server will ever finish it
  });

  it('10: a restore gives up if it waits too long for another one', async () => {
    const holder = await connectClient(fixture.own.url, `select pg_advisory_lock(hashtext('taskmesh-restore'))`);
    const end = await fixture.withOther({ timeouts: { busyMs: 300 } }, (other) => other.restore('own.tar.gz'));
    const error = expect.stringContaining('Another restore is running');
    expect(end).toMatchObject({ success: false, databaseRestored: false, outcome: 'BUSY', error });
    await holder.end();
    expect(await fixture.inStores()).toEqual(OLD);
  });
});

it('an archive made by Taskmesh restores both stores, and keeps the sessions of accounts that still exist', async () => {
  await fixture.auth.query(`insert into accounts values (2, 'later@x')`);
  await fixture.auth.query(`insert into sessions (account) values (1), (1), (2)`);
  const { outcome, message } = await fixture.restore('own.tar.gz', { stores: ['auth', 'tasks'] }); // all that it has
  expect([outcome, message]).toEqual(['RESTORED', 'Database restored; the application may need a restart.']);
  expect(await fixture.inStores()).toEqual(NEW);
  expect(await fixture.auth.query('select count(*)::int as n from sessions')).toEqual([{ n: 2 }]);
});

it('an archive made by Taskmesh replaces nothing if services of a newer release have migrated a store, unless that is allowed, as after a rollback', async () => {
  await fixture.tasks.query(`create table mikro_orm_migrations as select 1 as id, '0002-newer' as name`);
  const message = /The store tasks is not replaced: a newer release has .* NEWER_SCHEMA=allow/;
  const refused = { outcome: 'PROCESSED', message: expect.stringMatching(message) };
  expect(await fixture.restore('own.tar.gz')).toMatchObject(refused);
  expect(await fixture.inStores()).toEqual(OLD);
  const schema = { ...fixture.config.schema, acceptsNewer: true };
  const end = await fixture.withOther({ schema }, (other) => other.restore('own.tar.gz'));
  expect(end).toMatchObject({ outcome: 'RESTORED' });
  expect(await fixture.inStores()).toEqual(NEW);
});

describe('a restore of one store', () => {
  it.each([
    ['tasks', 'bad-auth.tar.gz', ['new', 'old@x'], 'tasks of accounts that no longer exist are visible to no one'],
    ['auth', 'own.tar.gz', ['old', 'new@x'], 'tasks of accounts that no longer exist are kept, visible to no one'], // prettier-ignore
  ])('replaces %s from %s and leaves the other unchanged', async (store, file, expected, message) => {
    const why = expect.stringContaining(`Only the store ${store} was replaced: ${message}`);
    const restored = { outcome: 'RESTORED', databaseRestored: true, message: why };
    expect(await fixture.restore(file, { stores: [store, store] })).toMatchObject(restored);
    expect(await fixture.inStores()).toEqual(expected);
    const newest = 'select stores from restores order by started_at desc limit 1';
    expect(await fixture.own.query(newest)).toEqual([{ stores: [store] }]);
  });

  it('changes nothing if one of the named stores is not in the archive', async () => {
    const message = expect.stringContaining('The archive contains no dump of the store auth');
    const end = await fixture.restore('foreign.tar.gz', { stores: ['tasks', 'auth'] });
    expect(end).toMatchObject({ outcome: 'PROCESSED', message });
    expect(await fixture.inStores()).toEqual(OLD);
  });

  it.each([[['tasks', 'everything']], [['Tasks']], [['toString']], [[]]])('is refused with %j', async (stores) => {
    const message = expect.stringMatching(/^The list of stores .*There are: tasks, auth\.$/);
    await expect(fixture.restore('own.tar.gz', { stores })).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message });
  });
});

const archives = async () => (await readdir(fixture.config.backupsDir)).toSorted();

describe('a safety backup', () => {
  it('is made by default if replaced stores are not kept, contains the replaced data, and is named in the response, the journal and the list', async () => {
    const { restore, stop } = await fixture.startOther({ usesSafetyBackups: true });
    atEnd(stop);
    const { outcome, safetyBackup } = await restore('own.tar.gz');
    expect([outcome, safetyBackup]).toEqual(['RESTORED', expect.stringMatching(/^taskmesh-.*\.tar\.gz$/)]);
    expect(await fixture.inStores()).toEqual(NEW);
    const recorded = 'select origin from restores join backups b on b.file = safety_backup where b.file = $1';
    expect(await fixture.own.query(recorded, [safetyBackup])).toEqual([{ origin: 'safety' }]);
    const declined = await restore(safetyBackup ?? '', { safetyBackup: false });
    expect(declined).toMatchObject({ outcome: 'RESTORED', safetyBackup: null });
    expect(await fixture.inStores()).toEqual(OLD);
  });

  it('that cannot be made ends the restore with an explanation, and nothing is changed', async () => {
    await fixture.auth.query('create table parts (id int) partition by range (id)'); // backups do not support it
    const before = await archives();
    const message = expect.stringContaining('without a safety backup nothing is replaced: ');
    const end = await fixture.restore('own.tar.gz', { safetyBackup: true });
    expect(end).toMatchObject({ outcome: 'PROCESSED', message, safetyBackup: null });
    await fixture.auth.query('drop table parts');
    expect(await fixture.inStores()).toEqual(OLD);
    expect(await archives()).toEqual(before);
  });

  it('is also named if the restore fails after it', async () => {
    const carryOver = () => Promise.reject(new Error('no luck'));
    const owners = { ...fixture.owners, auth: { ...fixture.owners.auth, carryOver } };
    await fixture.withOther({ owners }, async (other) => {
      const { outcome, safetyBackup } = await other.restore('own.tar.gz', { safetyBackup: true });
      expect([outcome, await archives()]).toEqual(['PROCESSED', expect.arrayContaining([safetyBackup])]);
    });
    expect(await fixture.inStores()).toEqual(OLD);
  });

  it('is not made for an archive that is unfit in part, which replaces neither store', async () => {
    const before = await archives();
    const end = await fixture.restore('bad-auth.tar.gz', { safetyBackup: true });
    expect(end).toMatchObject({ outcome: 'PROCESSED', safetyBackup: null });
    expect([await archives(), await fixture.inStores()]).toEqual([before, OLD]);
  });
});

it('an interrupted restore is settled before the archive of the next one is extracted, which may take long or fail', async () => {
  const died = `('died', 'own.tar.gz', 'loading', '{tasks,auth}', now())`;
  await fixture.own.query(`insert into restores (id, file, stage, stores, started_at) values ${died}`);
  await writeFile(join(fixture.config.backupsDir, 'broken.tar.gz'), 'no archive');
  expect(await fixture.restore('broken.tar.gz')).toMatchObject({ outcome: 'EXTRACTION_FAILED' });
  expect(await fixture.own.query(`select stage from restores where id = 'died'`)).toEqual([{ stage: 'undone' }]);
});

it('a restore that has lost its lock leaves the stores unchanged, because another one may be running', async () => {
  const auth: StoreOwner = {
    ...fixture.owners.auth,
    async importDatabase(database) {
      const locks = `pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
      await fixture.own.query(`select pg_terminate_backend(pid) from ${locks}`);
      return fixture.owners.auth.importDatabase(database);
    },
  };
  const end = await fixture.withOther({ owners: { ...fixture.owners, auth } }, (other) => other.restore('own.tar.gz'));
  expect(end).toMatchObject({ outcome: 'PROCESSED', databaseRestored: false });
  expect(await fixture.inStores()).toEqual(OLD);
});

it('a store with tables named like system catalogues is restored like any other', async () => {
  const stores = [fixture.tasks, fixture.auth];
  for (const { name, query } of stores) {
    await query('create table public.pg_class (n int); create table public.pg_database (n int)');
    await query('create table public.pg_settings (n int); create table public.pg_default_acl (n int)');
    await query(`alter database ${name} set search_path = public, pg_catalog`);
  }
  expect(await fixture.restore('own.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
  expect(await fixture.inStores()).toEqual(NEW);
  for (const { name, query } of stores) await query(`alter database ${name} reset search_path`);
});

/** Lets the creation of a database crash before each of its statements, and removes what is there. */
async function removesAfterAnyCrash(adminUrl: string) {
  const names = restoreNames(fixture.tasks.name, 'crash');
  const query = Client.prototype.query as (this: Client, ...values: unknown[]) => unknown;
  let isComplete = false;
  for (let statements = 1; !isComplete; statements++) {
    let left = statements;
    const crashing = jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...values) {
      if (this.user === new URL(adminUrl).username && left-- === 0) throw new Error('crashed');
      return query.apply(this, values) as void;
    });
    const creating = createFreshDatabase(adminUrl, names, loadLimits(DEFAULT_SIZES));
    isComplete = await creating.then(() => true, () => false); // prettier-ignore
    crashing.mockRestore();
    await dropFresh(adminUrl, names);
  }
  expect(await fixture.leftovers()).toEqual([]);
}

it('an administrator who is not a superuser needs permission to create databases and roles, and membership in the owner', async () => {
  const mark = randomBytes(4).toString('hex');
  const [admin, owner] = [`test_admin_${mark}`, `test_owner_${mark}`];
  const live = fixture.tasks.name;
  // Only superusers may set a setting that no module defines.
  await fixture.tasks.query(`alter database ${live} set app.mode = 'it''s a "secret", \\'`);
  await fixture.tasks.query(`create role ${owner} login password 'secret'`);
  await fixture.tasks.query(`create role ${admin} login password 'secret' createdb createrole`);
  atEnd(async () => {
    await fixture.tasks.query(`reassign owned by ${owner}, ${admin} to postgres; drop owned by ${owner}, ${admin}`);
    await fixture.tasks.query(`drop role ${admin}, ${owner}`);
  });
  await fixture.tasks.query(`grant ${owner} to ${admin}`);
  await fixture.tasks.query(`alter database ${live} owner to ${owner}; grant all on schema public to ${owner}`);
  await fixture.tasks.query(`alter table tasks owner to ${owner}; alter table feed_state owner to ${owner}`);
  const adminUrl = asRole(fixture.tasks.url, admin);
  const adminUrls = { ...fixture.config.secrets.adminUrls, tasks: adminUrl };
  const owners = createOwners({ tasks: asRole(fixture.tasks.url, owner), auth: fixture.auth.url });
  await fixture.archive('unprivileged.tar.gz', { 'database.sql': tasksDump(['by hand']) });
  const before = await catalogueOf(fixture.tasks);
  await fixture.withOther({ secrets: { adminUrls }, owners }, async ({ logged, restore }) => {
    expect(await restore('unprivileged.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
    expect(logged.filter(({ err }) => err)).toEqual([]);
    expect(logged.filter(({ refused }) => refused)).toMatchObject([
      { refused: [expect.stringMatching(/^alter database .* set "app"."mode" to {2}…: permission denied/)] },
    ]);
    expect(JSON.stringify(logged)).not.toContain('secret');
  });
  await fixture.tasks.query(`alter database ${live} set app.mode = 'it''s a "secret", \\'`);
  expect(await catalogueOf(fixture.tasks)).toEqual(before);
  expect(await fixture.tasks.query('select title from tasks')).toEqual([{ title: 'by hand' }]);
  await removesAfterAnyCrash(adminUrl);
});
