import { createRecordingLog } from '@taskmesh/service/testing';
import { connectClient, createTestDatabase } from '@taskmesh/testing';
import { DEFAULT_SIZES } from '../src/archives/limits.ts';
import { findObstacles } from '../src/databases/swap-obstacles.ts';
import { createDryRun } from '../src/restore/dry-run.ts';
import { loadLimits } from '../src/restore/watch-database.ts';
import { DEFAULT_TIMEOUTS } from '../src/stall-detection.ts';
import { accountsDump, createBackupFixture, ownArchive, tasksDump } from './support/backup-fixture.ts';
import { catalogueOf } from './support/catalogue.ts';
import { asRole } from './support/databases.ts';
import { AUTH_SCHEMA } from './support/store-owners.ts';

const fixture = await createBackupFixture('dry_run');
await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['one', 'two']), auth: accountsDump(['a@x']) }));
await fixture.archive('bad.tar.gz', ownArchive({ tasks: tasksDump(['one']), auth: 'selec;' }));
await fixture.tasks.query(`insert into tasks values (gen_random_uuid(), 'living')`);
await fixture.auth.query(`insert into accounts values (1, 'a@x'), (2, 'b@x')`);

afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
  expect(await fixture.tasks.query('select title from tasks')).toEqual([{ title: 'living' }]);
  expect(await fixture.own.query('select id from restores')).toEqual([]);
});

async function dryRun(file: string, stores?: string[]) {
  const query = `mutation ($file: String!, $stores: [String!]) { dryRunRestore(file: $file, stores: $stores) {
    possible obstacles stores { store rows { name now after } } accounts { gone } skipped { kind count } dropped tookMs
  } }`;
  const { data, error } = await fixture.request(query, { file, stores });
  return error ?? data.dryRunRestore;
}

const catalogue = () => Promise.all([fixture.tasks, fixture.auth].map(catalogueOf));

describe('a dry run of a restore', () => {
  it('reports what would change, and leaves the live stores, the list and the journal unchanged', async () => {
    const before = await catalogue();
    const stores = [
      { store: 'tasks', rows: [{ name: 'tasks', now: 1, after: 2 }] },
      { store: 'auth', rows: [{ name: 'accounts', now: 2, after: 1 }] },
    ];
    const nothing = { obstacles: [], accounts: null, skipped: [], dropped: [] };
    expect(await dryRun('own.tar.gz')).toEqual({ possible: true, stores, ...nothing, tookMs: expect.any(Number) });
    expect(await catalogue()).toEqual(before);
    expect(await fixture.own.query('select file from backups where verified_at is not null')).toEqual([]);
  });

  it('checks only the named stores', async () =>
    expect(await dryRun('bad.tar.gz', ['tasks'])).toMatchObject({ possible: true, stores: [{ store: 'tasks' }] }));

  it.each([
    ['bad.tar.gz', undefined, 'CONFLICT', 'the dump was not accepted'],
    ['own.tar.gz', ['none'], 'BAD_USER_INPUT', 'There are: tasks, auth'],
    ['../own.tar.gz', undefined, 'NOT_FOUND', 'no such backup file'],
  ])('refuses %s with the stores %j like a restore: %s', async (file, stores, code, message) => {
    expect(await dryRun(file, stores)).toEqual({ code, message: expect.stringContaining(message) });
  });

  it('reports that a newer release has migrated a store, and that one is being copied', async () => {
    await fixture.tasks.query(`create table mikro_orm_migrations as select 1 as id, '0001-newer' as name`);
    await connectClient(fixture.own.url, 'begin', `comment on database ${fixture.auth.name} is 'copied'`);
    const obstacles = [
      expect.stringMatching(/^tasks: a newer release has migrated it/),
      'auth: another session is copying or changing the database (1)',
    ];
    expect(await dryRun('own.tar.gz')).toMatchObject({ possible: false, obstacles });
    await fixture.tasks.query('drop table mikro_orm_migrations');
  });

  it('reports sessions that the administrator may not end, and a store that the administrator does not own', async () => {
    const name = `${fixture.own.name}_weak`;
    await fixture.own.query(`create role ${name} login password 'secret'`);
    const adminUrl = asRole(fixture.tasks.url, name);
    await connectClient(fixture.tasks.url);
    expect(await findObstacles({ adminUrl, fresh: '', waitsForWriters: false, writersMs: 0 })).toEqual([
      'the administrator is not a member of the role that owns the database',
      expect.stringMatching(/^sessions are in it that the administrator may not end \(\d+\)$/),
    ]);
    await fixture.own.query(`drop role ${name}`);
  });

  it('reports transactions that write to its tables for too long, if the restore must wait for them, but no others', async () => {
    const { url: adminUrl } = fixture.auth;
    const fresh = await createTestDatabase('dry_run_fresh');
    await fresh.query(AUTH_SCHEMA);
    await fixture.auth.query('create schema mine; create table notes (a int); create table mine.accounts (a int)');
    const checked = { adminUrl, fresh: fresh.url, writersMs: 0 };
    const find = (waitsForWriters: boolean) => findObstacles({ ...checked, waitsForWriters });
    const held = await connectClient(adminUrl, 'begin', 'select * from accounts', 'insert into public.notes values (1)', 'lock table mine.accounts'); // prettier-ignore
    expect(await find(true)).toEqual([]);
    await held.query('delete from accounts where false');
    const obstacle = 'transactions have been writing, or at work on tables, for longer than a restore waits (1)';
    expect(await find(true)).toEqual([obstacle]);
    expect(await find(false)).toEqual([]);
    await held.end();
    await fixture.auth.query('drop schema mine cascade; drop table public.notes');
  });

  it('ends if the service that owns a store never returns the comparison', async () => {
    const owner = { ...fixture.owners.auth, compare: () => new Promise<never>(() => undefined) };
    const made = { store: { name: 'auth', adminUrl: fixture.auth.url, owner }, database: fixture.auth.name, prepared: {} };
    const parts = {
      verifier: { verify: (_file: string, how: { inspect(what: object): unknown }) => how.inspect(made) },
      loadLimits: { ...loadLimits(DEFAULT_SIZES), stallMs: 100 },
      ...{ timeouts: DEFAULT_TIMEOUTS, log: createRecordingLog().log },
    };
    await expect(createDryRun(parts as never)('a.tar.gz')).rejects.toThrow('it took too long');
  }, 30_000); // prettier-ignore

  it('removes everything if the comparison fails, and does not blame the archive', async () => {
    const { compare } = fixture.owners.auth;
    fixture.owners.auth.compare = () => Promise.reject(new Error('no luck'));
    expect(await dryRun('own.tar.gz')).toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
    fixture.owners.auth.compare = compare;
    expect(await fixture.own.query('select id from verifications')).toEqual([]);
  });
});
