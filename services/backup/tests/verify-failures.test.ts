import { databaseOf, inDatabase } from '@taskmesh/store';
import type { ImportResult } from '@taskmesh/internal-api';
import { restoreNames } from '../src/databases/names.ts';
import {
  accountsDump,
  createBackupFixture,
  ownArchive,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';
import { withClient } from './support/with-client.ts';

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('unproved');
});
afterAll(() => fixture.close());
afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
  expect(await fixture.own.query('select 1 from verifications')).toEqual([]);
});

const verify = (file: string) => fixture.backup.backups.verify(file);
const find = (file: string) => fixture.backup.backups.find(file);
const good = () => ownArchive({ tasks: tasksDump(['one', 'two']), auth: accountsDump(['a@x']) });

describe('a verification', () => {
  it.each([
    ['in COPY', `create table tasks (id uuid, title text);\ncopy tasks from stdin;\nwritten by a user\tx\n\\.\n`],
    ['in INSERT', `create table tasks (id uuid, title text);\ninsert into tasks values ('written by a user', 'x');`],
    ['as no SQL', `insert into tasks 'written by a user' 'x';`],
  ])('does not reveal the value for which a dump is rejected: %s', async (name, dump) => {
    const file = `${name.replaceAll(' ', '-')}.tar.gz`;
    await fixture.archive(file, { 'database.sql': dump });
    const error = await verify(file).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/Line \d: (PostgreSQL refuses a value \(22P02|it is no SQL)/);
    expect(String(error) + JSON.stringify(fixture.logged)).not.toContain('written by a user');
  });

  it.each<[string, (result: ImportResult) => ImportResult, RegExp]>([
    [
      'another release restores it',
      () => ({ complete: false, concerns: 'version', reason: 'It is of a newer version.' }),
      /^The archive cannot be proved here: It is of a newer version\.$/,
    ],
    [
      'it restores with a loss',
      (result) => ({ ...result, dropped: ['tasks.note'] }),
      /^The archive restores with a loss only, if that is allowed: without tasks\.tasks\.note\.$/,
    ],
  ])('leaves what was known of an archive as it was when %s', async (_what, change, message) => {
    const { file } = await fixture.backup.backups.create();
    await verify(file);
    const known = await find(file);
    const { importDatabase } = fixture.owners.tasks;
    fixture.owners.tasks.importDatabase = async (database, archived) =>
      change(await importDatabase(database, archived));
    const error = await verify(file).catch((thrown: unknown) => thrown);
    fixture.owners.tasks.importDatabase = importDatabase;
    expect(error).toMatchObject({ message: expect.stringMatching(message), code: 'CONFLICT' });
    expect(await find(file)).toEqual(known);
    expect(known).toMatchObject({ verifiedAt: expect.any(Date), unfitAt: null });
  });

  it('believes no store that has taken other rows than there are', async () => {
    await fixture.archive('fewer.tar.gz', good());
    const { importDatabase } = fixture.owners.tasks;
    fixture.owners.tasks.importDatabase = async (...args) => ({
      ...(await importDatabase(...args)),
      rows: { tasks: 1 },
    });
    const error = await verify('fewer.tar.gz').catch((thrown: unknown) => thrown);
    fixture.owners.tasks.importDatabase = importDatabase;
    expect(String(error)).toContain('The table tasks has 1 rows, and the manifest says 2');
  });
  it('is not kept from proving by what an earlier one left and cannot be removed yet', async () => {
    const { fresh } = restoreNames(databaseOf(fixture.tasks.url), 'held');
    await fixture.own.query(`create database ${fresh}`);
    const left = inDatabase(fixture.own.url, fresh);
    // It keeps its database from being dropped.
    await withClient(left, (client) =>
      client.query(`create subscription held connection '' publication p with (connect = false)`),
    );
    await fixture.own.query(`insert into verifications (id, stores, started_at) values ('held', '{tasks}', now())`);
    await fixture.archive('beside.tar.gz', good());
    expect(await verify('beside.tar.gz')).toMatchObject({ stores: ['tasks', 'auth'] });
    expect(await fixture.leftovers()).toEqual([fresh]);
    await withClient(left, async (client) => {
      await client.query('alter subscription held set (slot_name = none)');
      await client.query('drop subscription held');
    });
    expect(await verify('beside.tar.gz')).toMatchObject({ stores: ['tasks', 'auth'] });
  });
});
