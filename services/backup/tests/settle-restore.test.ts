import { databaseOf, inDatabase } from '@taskmesh/store';
import { eventually } from '@taskmesh/testing';
import { createBackupDatabase } from '../src/database.ts';
import { restoreNames } from '../src/databases/names.ts';
import { createBackup } from '../src/index.ts';
import { createRestoreRepository, type RestoreRepository } from '../src/restore/restore.repository.ts';
import { settleRestore } from '../src/restore/settle-restore.ts';
import { createBackupFixture, createRecordingLog, type BackupFixture } from './support/backup-fixture.ts';
import { withClient } from './support/with-client.ts';

const STORES = ['tasks', 'auth'] as const;
type Store = (typeof STORES)[number];

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('settle');
});
afterAll(() => fixture.close());

const namesFor = (store: Store, id: string) => restoreNames(databaseOf(fixture[store].url), id);
const own = (text: string, values?: unknown[]) => fixture.own.query(text, values);

/** A database beside the living one that tells what it is: a copy of the living one with another mark in it. */
async function copyAs(store: Store, name: string): Promise<void> {
  await own(`create database ${name} template ${databaseOf(fixture[store].url)}`);
  await mark(inDatabase(fixture[store].url, name), 'new');
}

/** As the swap leaves it in the middle. */
async function swap(store: Store, id: string, { open }: { open: boolean }): Promise<void> {
  const { live, fresh, old } = namesFor(store, id);
  await own(`alter database ${live} rename to ${old}`);
  await own(`alter database ${fresh} rename to ${live}`);
  await own(`alter database ${old} allow_connections false`);
  await own(`alter database ${live} allow_connections ${open}`);
}

const mark = (url: string, text: string) =>
  withClient(url, (client) => client.query(`drop table if exists mark; create table mark as select '${text}' as "is"`));

const marks = () =>
  Promise.all([fixture.tasks, fixture.auth].map(async ({ query }) => (await query('select "is" from mark'))[0]?.is));

/** The journal as a crash left it. */
async function begin(id: string, stage: string): Promise<void> {
  const ids: Record<string, unknown> = {};
  for (const store of STORES) {
    const [row] = await own('select oid::text as id from pg_database where datname = $1', [namesFor(store, id).fresh]);
    ids[store] = row?.id;
  }
  await own(
    `insert into restores (id, file, stage, stores, started_at, fresh_ids) values ($1, 'a.tar.gz', $2, '{tasks,auth}', now(), $3)`,
    [id, stage, ids],
  );
}

/** What a start after a crash does. */
async function startAgain(): Promise<string> {
  const { log, logged } = createRecordingLog();
  const next = await createBackup(fixture.config, { clock: { now: () => Date.now() }, owners: fixture.owners, log });
  await next.start();
  await next.stop();
  const [row] = await own('select stage from restores where ended_at is not null order by ended_at desc limit 1');
  expect(await own('select 1 from restores where ended_at is null')).toEqual([]);
  expect(logged).toContainEqual(
    expect.objectContaining({ msg: 'interrupted restore settled', outcome: row?.stage, file: 'a.tar.gz' }),
  );
  return String(row?.stage);
}

beforeEach(async () => {
  for (const store of STORES) await mark(fixture[store].url, 'old');
});

afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
});

describe('a start after a crash', () => {
  it('during the load drops what was begun, roles too', async () => {
    await begin('aaa', 'loading');
    await copyAs('tasks', namesFor('tasks', 'aaa').fresh);
    await own(`create role ${namesFor('tasks', 'aaa').loader} login`);
    expect(await startAgain()).toBe('undone');
    expect(await marks()).toEqual(['old', 'old']);
  });

  it('behind the swap drops the old databases', async () => {
    for (const store of STORES) await copyAs(store, namesFor(store, 'ccc').fresh);
    await begin('ccc', 'swapping');
    for (const store of STORES) await swap(store, 'ccc', { open: true });
    expect(await startAgain()).toBe('restored');
    expect(await marks()).toEqual(['new', 'new']);
  });

  it('waits for a swap that is still going on', async () => {
    for (const store of STORES) await copyAs(store, namesFor(store, 'ggg').fresh);
    await begin('ggg', 'swapping');
    await withClient(inDatabase(fixture.own.url, 'postgres'), async (client) => {
      await client.query(
        `select pg_advisory_lock(hashtextextended('taskmesh-restore ' || current_user || ' ' || 'ggg', 0))`,
      );
      const started = startAgain();
      const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted and (classid::bigint << 32 | objid::bigint)
        = hashtextextended('taskmesh-restore ' || current_user || ' ' || 'ggg', 0)`;
      await eventually(async () => expect((await client.query(waiting)).rows).toHaveLength(1));
      for (const store of STORES) await swap(store, 'ggg', { open: true });
      await client.query('select pg_advisory_unlock_all()');
      expect(await started).toBe('restored');
    });
    expect(await marks()).toEqual(['new', 'new']);
  });
});

describe('a restore that was given up and goes on after all', () => {
  /** Settles while the other one goes on as soon as the journal was read for the first time. */
  async function settleMeanwhile(id: string, goOn: (journal: RestoreRepository) => Promise<void>) {
    const { log } = createRecordingLog();
    const database = await createBackupDatabase({ url: fixture.own.url, log });
    const journal = createRestoreRepository(database);
    let isFirst = true;
    const find = async (which: string) => {
      const found = await journal.find(which);
      if (isFirst) {
        isFirst = false;
        await goOn(journal);
      }
      return found;
    };
    const store = (name: Store) => ({ name, adminUrl: fixture[name].url, owner: fixture.owners[name] });
    const stores = { tasks: store('tasks'), auth: store('auth') };
    const deps = { stores, journal: { ...journal, find }, keepOldMs: 0, now: () => new Date(), log };
    try {
      return await settleRestore(deps, id);
    } finally {
      await database.close();
    }
  }

  const idsOf = async (id: string) => {
    const found = await own('select datname as name, oid::text as id from pg_database');
    const of = (store: Store) => String(found.find(({ name }) => name === namesFor(store, id).fresh)?.id);
    return { tasks: of('tasks'), auth: of('auth') };
  };

  it('is reported as what it became when it reached the swap in that very moment', async () => {
    for (const store of STORES) await copyAs(store, namesFor(store, 'hhh').fresh);
    await begin('hhh', 'loading');
    const freshIds = await idsOf('hhh');
    const outcome = await settleMeanwhile('hhh', async (journal) => {
      await journal.reach('hhh', { stage: 'swapping', freshIds });
      for (const store of STORES) await swap(store, 'hhh', { open: true });
    });
    expect(outcome).toBe('restored');
    expect(await own(`select stage from restores where id = 'hhh'`)).toEqual([{ stage: 'restored' }]);
    expect(await marks()).toEqual(['new', 'new']);
    for (const store of STORES) await own(`drop database ${namesFor(store, 'hhh').old}`);
  });

  it('gets no further when it was ended before', async () => {
    for (const store of STORES) await copyAs(store, namesFor(store, 'iii').fresh);
    await begin('iii', 'loading');
    let journal: RestoreRepository | undefined;
    expect(await settleMeanwhile('iii', async (its) => void (journal = its))).toBe('undone');
    for (const stage of ['swapping', 'swapping-apart', 'decided'] as const)
      await expect(journal?.reach('iii', { stage })).rejects.toThrow();
    for (const store of STORES) await own(`drop database ${namesFor(store, 'iii').fresh}`);
  });
});
