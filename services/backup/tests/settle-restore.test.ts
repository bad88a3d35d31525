import { databaseOf, inDatabase } from '@taskmesh/database';
import { withClient } from '../src/databases/connect.ts';
import { restoreNames } from '../src/databases/names.ts';
import { createBackup } from '../src/index.ts';
import { createBackupFixture, createRecordingLog, type BackupFixture } from './support/backup-fixture.ts';

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('settle');
});
afterAll(() => fixture.close());

const namesFor = (store: 'tasks' | 'auth', id: string) => restoreNames(databaseOf(fixture[store].url), id);

/** A database beside the living one that tells what it is: a copy of the living one with another mark in it. */
async function copyAs(store: 'tasks' | 'auth', name: string): Promise<void> {
  await fixture.own.query(`create database ${name} template ${databaseOf(fixture[store].url)}`);
  await mark(inDatabase(fixture[store].url, name), 'new');
}

const mark = (url: string, text: string) =>
  withClient(url, (client) => client.query(`drop table if exists mark; create table mark as select '${text}' as "is"`));

const marks = () =>
  Promise.all([fixture.tasks, fixture.auth].map(async ({ query }) => (await query('select "is" from mark'))[0]?.is));

async function begin(id: string, stage: string): Promise<void> {
  await fixture.own.query(`insert into restores values ($1, 'a.tar.gz', $2, '{tasks,auth}', now())`, [id, stage]);
}

/** What a start after a crash does. */
async function startAgain(): Promise<string> {
  const { log } = createRecordingLog();
  const next = await createBackup(fixture.config, { clock: { now: () => Date.now() }, owners: fixture.owners, log });
  await next.start();
  await next.stop();
  const [row] = await fixture.own.query(
    'select stage from restores where ended_at is not null order by ended_at desc limit 1',
  );
  expect(await fixture.own.query('select 1 from restores where ended_at is null')).toEqual([]);
  return String(row?.stage);
}

beforeEach(async () => {
  for (const store of ['tasks', 'auth'] as const) await mark(fixture[store].url, 'old');
});

afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
});

describe('a start after a crash', () => {
  it('during the load drops what was begun, roles too', async () => {
    await begin('aaa', 'loading');
    await copyAs('tasks', namesFor('tasks', 'aaa').fresh);
    await fixture.own.query(`create role ${namesFor('tasks', 'aaa').loader} login`);
    expect(await startAgain()).toBe('undone');
    expect(await marks()).toEqual(['old', 'old']);
  });

  it('before the first swap undoes the restore, because the living stores have gone on', async () => {
    await begin('bbb', 'swapping');
    await copyAs('tasks', namesFor('tasks', 'bbb').fresh);
    await copyAs('auth', namesFor('auth', 'bbb').fresh);
    expect(await startAgain()).toBe('undone');
    expect(await marks()).toEqual(['old', 'old']);
  });

  it('between the swaps finishes the restore, with what happened in the meantime carried over', async () => {
    await begin('ccc', 'swapping');
    const tasks = namesFor('tasks', 'ccc');
    await copyAs('tasks', tasks.fresh);
    await copyAs('auth', namesFor('auth', 'ccc').fresh);
    await fixture.own.query(`alter database ${tasks.live} rename to ${tasks.old}`);
    await fixture.own.query(`alter database ${tasks.fresh} rename to ${tasks.live}`);
    await withClient(inDatabase(fixture.auth.url, namesFor('auth', 'ccc').fresh), (client) =>
      client.query(`insert into accounts values (7, 'x@x')`),
    );
    await fixture.auth.query(`insert into accounts values (7, 'x@x'); insert into sessions (account) values (7)`);
    expect(await startAgain()).toBe('restored');
    expect(await marks()).toEqual(['new', 'new']);
    expect(await fixture.auth.query('select account from sessions')).toEqual([{ account: 7 }]);
  });

  it('behind the swaps drops the old databases', async () => {
    await begin('ddd', 'swapping');
    for (const store of ['tasks', 'auth'] as const) await copyAs(store, namesFor(store, 'ddd').old);
    expect(await startAgain()).toBe('restored');
    expect(await marks()).toEqual(['old', 'old']); // the living ones were not touched again
  });

  it('goes on undoing what it could undo in part only, and does not take it for swapped', async () => {
    await begin('fff', 'swapping');
    const tasks = namesFor('tasks', 'fff');
    await copyAs('tasks', tasks.fresh);
    await copyAs('auth', namesFor('auth', 'fff').fresh);
    // What the role has elsewhere keeps it from being dropped: after the first new database, before the second.
    await fixture.own.query(`create role ${tasks.loader}; create schema stray authorization ${tasks.loader}`);
    const { log, logged } = createRecordingLog();
    const first = await createBackup(fixture.config, { clock: { now: () => Date.now() }, owners: fixture.owners, log });
    await first.start();
    await first.stop();
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'interrupted restores not settled yet' }));
    expect(await fixture.leftovers()).not.toContain(tasks.fresh);
    expect(await fixture.leftovers()).toContain(namesFor('auth', 'fff').fresh);

    await fixture.own.query('drop schema stray');
    expect(await startAgain()).toBe('undone');
    expect(await marks()).toEqual(['old', 'old']);
  });

  it('in the middle of undoing goes on undoing', async () => {
    await begin('eee', 'loading');
    await copyAs('auth', namesFor('auth', 'eee').fresh);
    expect(await startAgain()).toBe('undone');
    expect(await marks()).toEqual(['old', 'old']);
  });
});
