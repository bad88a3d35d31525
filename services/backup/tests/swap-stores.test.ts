import { inDatabase } from '@taskmesh/store';
import { administer, atEnd, connectClient } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { maintenanceUrl } from '../src/databases/connect.ts';
import { swapIn } from '../src/databases/swap.ts';
import { exchangeStores, swapStores } from '../src/restore/swap-stores.ts';
import type { RestoreStage } from '../src/restore/restore.entities.ts';
import { createTestStores, SWAPPED, UNTOUCHED, type RestoreTrial } from './support/test-stores.ts';
import { withClient } from './support/databases.ts';

/** An administrator who may not end sessions of superusers. */
const ADMIN = `test_swap_${randomBytes(5).toString('hex')}`;
let trial: RestoreTrial;

await administer(`create role ${ADMIN} createdb login password 'secret' in role pg_monitor, pg_signal_backend`);
atEnd(() => administer(`drop role ${ADMIN}`));
const testStores = await createTestStores();

/** Swaps the stores and calls `at` for each stage of the journal. Returns the journal's and the servers' state at each step. */
async function swap(at: Partial<Record<RestoreStage, () => Promise<unknown>>> = {}) {
  const { line, journal, state } = trial;
  const steps: unknown[] = [];
  const noted = {
    ...journal,
    async reach(...[id, values]: Parameters<typeof journal.reach>) {
      await journal.reach(id, values);
      steps.push([values.stage, ...(await state())]);
      await at[values.stage]?.();
    },
  };
  await swapStores({ ...trial, journal: noted }, { restore: { ...line }, onAttempt: () => steps.push('attempt') });
  return steps;
}

const messages = () => trial.logged.map(({ msg }) => msg);

describe('a swap of stores on one server', () => {
  beforeEach(async () => {
    trial = await testStores.begin();
  });

  it('is recorded before the attempt, and then replaces all of them', async () => {
    expect(await swap()).toEqual([['swapping', ...UNTOUCHED], 'attempt']);
    expect(await trial.state()).toEqual(SWAPPED);
    expect(trial.line).toMatchObject({ stage: 'swapping', freshIds: trial.freshIds });
    expect(messages()).toEqual([]);
  });

  it('does not begin if a new database is missing', async () => {
    await administer(`drop database ${trial.names.auth.fresh}`);
    await expect(swap()).rejects.toThrow('to become the store of auth no longer exists');
    expect(await trial.state()).toEqual([UNTOUCHED[0], 'live: former']);
    expect(trial.line.stage).toBe('loading');
  });

  it('fails, and reports the session that may not be ended', async () => {
    const { live, fresh, old } = trial.names.tasks;
    const url = new URL(maintenanceUrl(trial.stores.tasks.adminUrl));
    [url.username, url.password] = [ADMIN, 'secret'];
    for (const name of [live, fresh]) await administer(`alter database ${name} owner to ${ADMIN}`);
    const client = await connectClient(trial.stores.tasks.adminUrl);
    const swapping = withClient(url.href, (admin) =>
      swapIn(
        { ...trial, client: admin, url: url.href, names: [{ live, fresh, old, loader: '' }], lockers: new Map() },
        { open: true },
      ),
    );
    await expect(swapping).rejects.toMatchObject({ code: '55006' });
    for (const name of [live, fresh]) await administer(`alter database ${name} owner to current_user`);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    expect(trial.logged).toMatchObject([{ databases: [live], sessions: [rows[0]?.pid] }]);
    expect(await trial.state()).toEqual(UNTOUCHED);
  });

  it('waits for an instance that is still working on the same restore', async () => {
    const client = await connectClient(inDatabase(trial.stores.tasks.adminUrl, 'postgres'));
    const lock = `hashtextextended('taskmesh-restore ' || current_user || ' r', 0)`;
    await client.query(`select pg_advisory_lock(${lock})`);
    const swapping = swap();
    const waits = async () =>
      (
        await administer(
          `select 1 from pg_locks where locktype = 'advisory' and not granted and pid <> pg_backend_pid()`,
        )
      ).length;
    while ((await waits()) === 0);
    expect(trial.line.stage).toBe('loading');
    await client.query('select pg_advisory_unlock_all()');
    await swapping;
    expect(await trial.state()).toEqual(SWAPPED);
  });
});

describe('a swap of stores with a schema', () => {
  const migrate = async (versions: { live: string; fresh: string }) => {
    for (const which of ['live', 'fresh'] as const)
      await withClient(inDatabase(trial.stores.tasks.adminUrl, trial.names.tasks[which]), (client) =>
        client.query(`create table mikro_orm_migrations as select 1 as id, '${versions[which]}' as name`),
      );
  };

  beforeEach(async () => {
    trial = await testStores.begin();
  });
  afterEach(async () => {
    const { live, fresh } = (await testStores.begin()).names.tasks;
    for (const name of [live, fresh]) await administer(`drop database ${name}`); // other tests need them without versions
  });

  it('does not begin if services of a newer release have migrated a live store, because they need that schema', async () => {
    await migrate({ live: '0002-newer', fresh: '0001-older' });
    await expect(swap()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(
        /^The store tasks is not replaced: a newer release has migrated it: .* NEWER_SCHEMA=allow/,
      ),
    });
    expect(await trial.state()).toEqual(UNTOUCHED);
    expect(trial.line.stage).toBe('loading');
  });

  it.each([
    ['the new store has the newer one', '0001-older', '0002-newer', false],
    ['a newer one is allowed, as after a rollback', '0002-newer', '0001-older', true],
  ])('replaces them if %s', async (_what, live, fresh, acceptsNewerSchema) => {
    await migrate({ live, fresh });
    trial.acceptsNewerSchema = acceptsNewerSchema;
    await swap();
    expect(await trial.state()).toEqual(SWAPPED);
  });
});

describe('a swap that carries data over', () => {
  const write = async () => {
    const client = await connectClient(trial.stores.auth.adminUrl);
    await client.query(`set lock_timeout = '50ms'`);
    await client.query('select from sessions');
    await client.query('insert into operators_own values (1)');
    return client.query('insert into sessions values (1)').then(
      () => 'written',
      (error: { code?: string }) => error.code,
    );
  };

  beforeEach(async () => {
    trial = await testStores.begin();
    const { adminUrl } = trial.stores.auth;
    for (const url of [adminUrl, inDatabase(adminUrl, trial.names.auth.fresh)])
      await withClient(url, (client) => client.query('create table if not exists sessions (id int)'));
    await withClient(adminUrl, (client) => client.query('create table if not exists operators_own (id int)'));
  });

  it('locks out writers from before the carry-over until the swap, but not readers or writers to other tables', async () => {
    const written: unknown[] = [await write()];
    const carried: string[] = [];
    trial.stores.auth.owner.carryOver = async (database) => {
      carried.push(database);
      written.push(await write());
    };
    await swap({ swapping: async () => written.push(await write()) });
    expect(carried).toEqual([trial.names.auth.fresh]);
    expect(written).toEqual(['written', '55P03', '55P03']);
    expect(await trial.state()).toEqual(SWAPPED);
  });

  /** Ends the sessions that keep writers out of a store. */
  const loseLockers = () =>
    administer(
      `select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
       where l.mode = 'ShareLock' and l.granted and datname = $1`,
      [trial.names.auth.live],
    );

  it('does not begin if the locks were lost meanwhile', async () => {
    trial.stores.auth.owner.carryOver = () => loseLockers().then(() => undefined);
    await expect(swap()).rejects.toThrow();
    expect(trial.line.stage).toBe('loading');
    expect(await trial.state()).toEqual(UNTOUCHED);
  });

  it('replaces nothing if the locks are lost right before the renames', async () => {
    trial.stores.auth.owner.carryOver = async () => undefined;
    await expect(swap({ swapping: loseLockers })).rejects.toThrow('A session that kept writers out was lost.');
    expect(await trial.state()).toEqual(UNTOUCHED);
    expect(messages()).toContainEqual(expect.stringContaining('databases not swapped'));
  });

  it('ends if the carry-over fails, and lets writers in again', async () => {
    trial.stores.auth.owner.carryOver = () => Promise.reject(new Error('auth is away'));
    await expect(swap()).rejects.toThrow('auth is away');
    expect(await write()).toBe('written');
    expect(await trial.state()).toEqual(UNTOUCHED);
  });

  it('ends the sessions in the new store when the carry-over is abandoned', async () => {
    let ended: Promise<unknown> | undefined;
    trial.stores.auth.owner.carryOver = async (database) => {
      const client = await connectClient(inDatabase(trial.stores.auth.adminUrl, database));
      ended = client.query('select pg_sleep(60)').catch(({ code }: { code?: string }) => code);
      throw new Error('no response in time');
    };
    await expect(swap()).rejects.toThrow('no response in time');
    expect(await ended).toBe('57P01');
  });

  it('copies most of the data before writers are locked out', async () => {
    const stages: unknown[] = [];
    const note = (stage: string) => async () => void stages.push(stage, await write());
    const beforeSwap = async () => void stages.push('safety backup');
    Object.assign(trial.stores.auth.owner, { carryOverAhead: note('ahead'), carryOver: note('final') });
    const exchange = {
      prepare: async () => undefined,
      beforeSwap,
      mayContinue: async () => true,
      onProgress: () => undefined,
    };
    await exchangeStores({ ...trial, onUnsettled: () => undefined }, { restore: trial.line, ...exchange });
    expect(stages).toEqual(['ahead', 'written', 'safety backup', 'final', '55P03']);
  });

  it('continues if copying ahead makes no more progress, and ends the sessions in the new store', async () => {
    trial.loadLimits.stallMs = 100;
    const { owner, adminUrl } = trial.stores.auth;
    owner.carryOverAhead = async (database) => {
      const client = await connectClient(inDatabase(adminUrl, database));
      await client.query('begin; truncate sessions');
      await new Promise(() => undefined);
    };
    owner.carryOver = async (database) =>
      void (await withClient(inDatabase(adminUrl, database), (client) =>
        client.query(`set lock_timeout = '2s'; truncate sessions`),
      ));
    const exchange = { prepare: async () => undefined, mayContinue: async () => true, onProgress: () => undefined };
    await exchangeStores({ ...trial, onUnsettled: () => undefined }, { restore: trial.line, ...exchange });
    expect(messages()).toContain('nothing was carried over ahead');
    expect(await trial.state()).toEqual(SWAPPED);
  });
});

describe('a swap of stores on several servers', () => {
  beforeEach(async () => {
    trial = await testStores.begin({ isApart: true });
  });

  it('keeps the new stores closed until it is decided, and then opens all of them', async () => {
    const [closed, swapped] = [['live: former, fresh: new'], ['live: (new), old: (former)']];
    expect(await swap()).toEqual([
      ['swapping-apart', ...closed, ...closed],
      'attempt',
      ['decided', ...swapped, ...swapped],
    ]);
    expect(await trial.state()).toEqual(SWAPPED);
    expect(trial.line.freshIds).toEqual(trial.freshIds);
  });

  it('leaves the first store closed and is not decided if it gets no further', async () => {
    await administer(`create database ${trial.names.auth.old}`);
    await expect(swap()).rejects.toMatchObject({ code: '42P04' });
    expect(trial.line.stage).toBe('swapping-apart');
    expect(await trial.state()).toEqual(['live: (new), old: (former)', 'live: former, fresh: (new), old: strange']);
  });
});
