import type { ImportResult, OnWorkProgress, WorkProgress } from '@taskmesh/internal-api';
import { inDatabase } from '@taskmesh/store';
import { atEnd, eventually } from '@taskmesh/testing';
import { utimesSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { restoreNames } from '../src/databases/names.ts';
import { accountsDump, createBackupFixture, ownArchive, tasksDump } from './support/backup-fixture.ts';
import { startBackupProcess } from './support/backup-process.ts';
import { query } from './support/databases.ts';

const VERIFY = 'mutation ($file: String!) { verifyBackup(file: $file) { file stores verifiedAt verifiedVersion } }';

const fixture = await createBackupFixture('verify', { timeouts: { busyMs: 1_000 } });

beforeEach(() => fixture.fillStores('living', 'living@x'));
afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
  expect(await fixture.own.query('select 1 from verifications')).toEqual([]);
  expect(await fixture.inStores()).toEqual(['living', 'living@x']);
});

const verify = async (file: string) => {
  const { data, error } = await fixture.request(VERIFY, { file });
  return { verified: data.verifyBackup, error };
};
const find = (file: string) => fixture.backup.backups.find(file);
const listed = async (file: string) => (await fixture.backup.backups.list()).find((backup) => backup.file === file);
/** Marks an archive as verified. */
const setProved = (file: string) =>
  fixture.own.query(`update backups set verified_at = now(), verified_version = '0.0.1' where file = $1`, [file]);
/** Returns the files of a good archive, but with these numbers of rows in the manifest. */
const promising = (rows: Record<string, number>) =>
  ownArchive({ tasks: tasksDump(['one', 'two']), auth: accountsDump(['a@x']) }, ({ stores }) => {
    stores.tasks.rows = rows;
  });
const good = () => promising({ tasks: 2 });

describe('verifying a backup', () => {
  it('verifies an archive made here, and records that in the catalogue', async () => {
    const { file, sha256 } = await fixture.backup.backups.create();
    const what = { file, stores: ['tasks', 'auth'], verifiedAt: expect.any(String), verifiedVersion: expect.stringMatching(/^\d+\.\d+\.\d+/) }; // prettier-ignore
    expect((await verify(file)).verified).toEqual(what);
    expect(await find(file)).toMatchObject({ file, sha256, verifiedAt: expect.any(Date) });
    expect(await listed(file)).toMatchObject({ verifiedAt: expect.any(Date) });
  });

  it('reports its progress', async () => {
    await fixture.archive('steps.tar.gz', good());
    const progress: WorkProgress[] = [];
    await fixture.backup.backups.verify('steps.tar.gz', (step) => progress.push(step));
    const steps = new Set(progress.map(({ phase, store = '' }) => `${phase} ${store}`.trim()));
    expect([...steps]).toEqual(['extract', 'load tasks', 'check tasks', 'load auth', 'check auth']);
    for (const { doneBytes = 0, totalBytes = 0 } of progress) expect(doneBytes).toBeLessThanOrEqual(totalBytes);
    const read = progress.findLast(({ phase }) => phase === 'extract');
    expect(read?.doneBytes).toBe(read?.totalBytes);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a refused dump', { 'database.sql': 'insert into nowhere values (1);' }, 'Line 1: relation "nowhere"'],
    ['an incomplete store', { 'database.sql': 'create table other (id int);' }, 'There is no table tasks.'],
    ['a table not in the manifest', promising({}), 'The manifest does not name the table tasks.'],
    ['a manifest of more tables', promising({ tasks: 2, labels: 0 }), 'names the table labels, which is missing.'],
    ['a manifest of more rows', promising({ tasks: 3 }), 'The table tasks has 2 rows, but the manifest says 3.'],
  ])('rejects %s, with the reason', async (name, files, reason) => {
    const file = `${name.replaceAll(' ', '-')}.tar.gz`;
    await fixture.archive(file, files);
    const { error } = await verify(file);
    const message = expect.stringContaining('The archive is not fit for a restore: ');
    expect(error).toEqual({ code: 'CONFLICT', message });
    expect(error?.message).toContain(reason);
    expect(await find(file)).toMatchObject({ verifiedAt: null, unfitAt: expect.any(Date) });
  });

  it('does not count an archive as verified that replaced a verified one, even if it has the same size', async () => {
    const { file } = await fixture.backup.backups.create();
    await setProved(file);
    expect(await find(file)).toMatchObject({ verifiedAt: expect.any(Date), sha256: expect.any(String) });
    const path = join(fixture.config.backupsDir, file);
    await writeFile(path, (await readFile(path)).fill(0));
    const at = (seconds: number) => utimes(path, new Date(), new Date(Date.now() + seconds * 1_000));
    await at(5);
    const nothing = { verifiedAt: null, verifiedVersion: null, sha256: null, unfitAt: null, origin: 'request' };
    expect(await find(file)).toMatchObject(nothing);
    expect(await listed(file)).toMatchObject(nothing);
    const download = await fixture.backup.backups.download(file);
    expect(download?.sha256).toBeNull();
    await download?.close();
    expect((await verify(file)).error?.code).toBe('CONFLICT');
    expect(await find(file)).toMatchObject({ ...nothing, unfitAt: expect.any(Date) });
    await at(10);
    expect(await find(file)).toMatchObject(nothing);
    await writeFile(path, 'another');
    expect(await find(file)).toMatchObject({ ...nothing, sizeBytes: 7, stores: [], origin: 'unknown' });
  });

  it('does not mark an archive as verified that replaced the examined one meanwhile', async () => {
    await fixture.archive('moved.tar.gz', good());
    const moved = join(fixture.config.backupsDir, 'moved.tar.gz');
    const replace: OnWorkProgress = ({ phase }) =>
      void (phase === 'load' && utimesSync(moved, new Date(0), new Date(0)));
    const failure = { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('replaced') };
    await expect(fixture.backup.backups.verify('moved.tar.gz', replace)).rejects.toMatchObject(failure);
    expect((await find('moved.tar.gz'))?.verifiedAt).toBeNull();
  });

  it('reports an unavailable server, and keeps what was known', async () => {
    const { file } = await fixture.backup.backups.create();
    await setProved(file);
    const adminUrls = { ...fixture.config.secrets.adminUrls, auth: 'postgres://stranger@127.0.0.1:1/none' };
    const verifying = fixture.withOther({ secrets: { adminUrls } }, ({ backups }) => backups.verify(file));
    await expect(verifying).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect((await find(file))?.verifiedAt).toBeInstanceOf(Date);
    expect(await fixture.own.query('select 1 from verifications')).toHaveLength(1);
    // The next verification removes what this one could not.
    await fixture.backup.backups.verify(file);
  });

  it('does not block restores, and makes a second verification wait for the first', async () => {
    await fixture.archive('slow.tar.gz', good());
    await fixture.archive('living.tar.gz', { 'database.sql': tasksDump(['living']) });
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { tasks, auth } = fixture.owners;
    const importDatabase = async (database: string) => {
      reached.resolve();
      await goOn.promise;
      return tasks.importDatabase(database);
    };
    const other = await fixture.startOther({ owners: { tasks: { ...tasks, importDatabase }, auth } });
    atEnd(other.stop);
    atEnd(goOn.resolve);
    const first = other.backups.verify('slow.tar.gz');
    await reached.promise;
    expect(await fixture.restore('living.tar.gz')).toMatchObject({ databaseRestored: true });
    const scheduled = fixture.backup.backups.verify('living.tar.gz', undefined, 'schedule');
    const busy = { code: 'SERVICE_UNAVAILABLE', message: 'Another verification is running; try again later.' };
    await expect(fixture.backup.backups.verify('slow.tar.gz')).rejects.toMatchObject(busy);
    goOn.resolve();
    expect(await first).toMatchObject({ stores: ['tasks', 'auth'] });
    // A scheduled verification can wait. The archive was made by hand, with one store.
    expect(await scheduled).toMatchObject({ stores: ['tasks'], verifiedAt: expect.any(Date) });
  }, 120_000);
});

describe('a failed verification', () => {
  it.each([
    [`create table tasks (id uuid);\ninsert into tasks values ('written by a user');`, 'refuses a value (22P02'],
    [`insert into tasks 'written by a user' 'x';`, 'it is not SQL'],
  ])('does not reveal the rejected value of a dump: %s', async (dump, reason) => {
    await fixture.archive('secret.tar.gz', { 'database.sql': dump });
    const { error } = await verify('secret.tar.gz');
    expect(error?.message).toContain(reason);
    expect(error?.message + JSON.stringify(fixture.logged)).not.toContain('written by a user');
  });

  /** Verifies an archive with an owner of tasks that reports something else. */
  const failureWith = async (file: string, change: (result: ImportResult) => ImportResult) => {
    const { importDatabase } = fixture.owners.tasks;
    fixture.owners.tasks.importDatabase = async (...args) => change(await importDatabase(...args));
    const { error } = await verify(file);
    fixture.owners.tasks.importDatabase = importDatabase;
    return error;
  };

  const NEWER: ImportResult = { complete: false, concerns: 'version', reason: 'It is of a newer version.' };
  const withLoss = (result: ImportResult) => ({ ...result, dropped: ['tasks.note'] });

  it.each<[string, (result: ImportResult) => ImportResult, string]>([
    ['another release restores it', () => NEWER, 'cannot be verified here: It is of a newer version.'],
    ['it restores with a loss', withLoss, 'can be restored only with losses, if these are allowed: tasks.tasks.note.'],
  ])('keeps what was known about an archive when %s', async (_what, change, message) => {
    const { file } = await fixture.backup.backups.create();
    await setProved(file);
    const known = await find(file);
    expect(await failureWith(file, change)).toEqual({ code: 'CONFLICT', message: `The archive ${message}` });
    expect(await find(file)).toEqual(known);
    expect(known).toMatchObject({ verifiedAt: expect.any(Date), unfitAt: null });
  });

  it('rejects a store that reports imported rows that differ from the archive', async () => {
    await fixture.archive('fewer.tar.gz', good());
    const error = await failureWith('fewer.tar.gz', (result) => ({ ...result, rows: { tasks: 1 } }) as ImportResult);
    expect(error?.message).toContain('The table tasks has 1 rows, but the manifest says 2');
  });

  it('does not prevent the next one, even if its leftovers cannot be removed yet', async () => {
    const { fresh } = restoreNames(fixture.tasks.name, 'held');
    await fixture.own.query(`create database ${fresh}`);
    const left = inDatabase(fixture.own.url, fresh);
    // A database with a subscription cannot be dropped.
    await query(left, `create subscription held connection '' publication p with (connect = false)`);
    await fixture.own.query(`insert into verifications (id, stores, started_at) values ('held', '{tasks}', now())`);
    await fixture.archive('beside.tar.gz', good());
    expect((await verify('beside.tar.gz')).verified).toMatchObject({ stores: ['tasks', 'auth'] });
    expect(await fixture.leftovers()).toEqual([fresh]);
    await query(left, 'alter subscription held set (slot_name = none)');
    await query(left, 'drop subscription held');
    expect((await verify('beside.tar.gz')).verified).toMatchObject({ stores: ['tasks', 'auth'] });
  });
});

it('a backup service that is killed during a verification leaves the stores untouched, and cleans up at its next start', async () => {
  const titles = Array.from({ length: 500 }, (_, index) => `loaded ${index}`);
  await fixture.archive('killed.tar.gz', ownArchive({ tasks: tasksDump(titles), auth: accountsDump(['a@x']) }));
  const backup = await startBackupProcess(fixture.config);
  void backup.ask(VERIFY, { file: 'killed.tar.gz' });
  const isLoading = (name: string) => name.startsWith(fixture.tasks.name);
  await eventually(async () => expect((await fixture.leftovers()).some(isLoading)).toBe(true));
  await backup.kill();
  await fixture.withOther({}, () => eventually(async () => expect(await fixture.leftovers()).toEqual([])));
}, 120_000);
