import { inDatabase } from '@taskmesh/store';
import { administer, connectClient } from '@taskmesh/testing';
import { undoRestore } from '../src/restore/restore-stores.ts';
import { settleRestore } from '../src/restore/settle-restore.ts';
import { exchangeStores, swapStores, type Exchange } from '../src/restore/swap-stores.ts';
import type { RestoreStage } from '../src/restore/restore.entities.ts';
import type { StoreName } from '../src/databases/store.ts';
import { createTestStores, KEPT_MS, NOW, SWAPPED, UNTOUCHED, whileAnotherWorks } from './support/test-stores.ts';
import { query } from './support/databases.ts';

const KEPT_UNTIL = new Date(NOW.getTime() + KEPT_MS);
/** A store that was reverted after its swap. */
const REVERTED = 'live: former, fresh: (new)';

const testStores = await createTestStores();
let trial: Awaited<ReturnType<typeof testStores.begin>>;

async function swapAll() {
  for (const name of ['tasks', 'auth'] as const) await trial.swap(name, { open: true });
}

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

/** Does all of a restore but the preparation of the new stores. */
function exchange(more: Partial<Exchange> = {}) {
  const { line: restore } = trial;
  const steps = { prepare: async () => undefined, mayContinue: async () => true, onProgress: () => undefined };
  return exchangeStores({ ...trial, onUnsettled: () => undefined }, { restore, ...steps, ...more });
}

describe('a swap of stores on one server', () => {
  beforeEach(async () => (trial = await testStores.begin()));

  it('is recorded before the attempt, and then replaces all of them', async () => {
    trial.stores.auth.owner.carryOver = async () => undefined; // there are no tables to lock
    expect(await swap()).toEqual([['swapping', ...UNTOUCHED], 'attempt']);
    expect(await trial.state()).toEqual(SWAPPED);
    expect(trial.line).toMatchObject({ stage: 'swapping', freshIds: trial.freshIds });
  });

  it('waits for an instance that is still working on the same restore', async () => {
    await whileAnotherWorks(swap, () => expect(trial.line.stage).toBe('loading'));
    expect(await trial.state()).toEqual(SWAPPED);
  });

  it.each<[when: string, isAway: () => boolean]>([
    ['right after the swap', () => trial.line.stage === 'swapping'],
    ['after the restore was settled', () => trial.line.endedAt !== null],
  ])('succeeds with a pending clean-up if the journal cannot be read %s', async (_when, isAway) => {
    const { find } = trial.journal;
    trial.journal.find = async (id) => (isAway() ? Promise.reject(new Error('away')) : find(id));
    expect(await exchange()).toEqual({ isCleanUpPending: true });
    expect(await trial.state()).toEqual(SWAPPED);
  });

  it('succeeds with a pending clean-up if the journal cannot record that nothing is left', async () => {
    trial.keepOldMs = 0;
    trial.journal.leftNothing = () => Promise.reject(new Error('away'));
    expect(await exchange()).toEqual({ isCleanUpPending: true, keptUntil: null });
    expect(trial.logged.map(({ msg }) => msg)).toContain('databases of an ended restore not removed yet');
  });

  it('succeeds although it failed here, if another process has settled it as restored', async () => {
    const prepare = async () => {
      await swapAll();
      Object.assign(trial.line, { stage: 'restored', endedAt: NOW, leftUntil: null });
      throw new Error('the connection was lost');
    };
    expect(await exchange({ prepare })).toEqual({ isCleanUpPending: false, keptUntil: null });
    expect(trial.logged.map(({ msg }) => msg)).toContain('the stores were replaced all the same');
  });
});

describe('a swap that carries data over', () => {
  const write = async () => {
    const others = ['select from sessions', 'insert into operators_own values (1)'];
    const client = await connectClient(trial.stores.auth.adminUrl, `set lock_timeout = '50ms'`, ...others);
    const written = client.query('insert into sessions values (1)').then(() => 'written');
    return written.catch((error: { code?: string }) => error.code);
  };

  beforeEach(async () => {
    trial = await testStores.begin();
    const { adminUrl } = trial.stores.auth;
    for (const url of [adminUrl, inDatabase(adminUrl, trial.names.auth.fresh)])
      await query(url, 'create table sessions (id int)');
    await query(adminUrl, 'create table operators_own (id int)');
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

  it('replaces nothing if the locks were lost meanwhile, or are lost right before the renames', async () => {
    trial.stores.auth.owner.carryOver = () => loseLockers().then(() => undefined);
    await expect(swap()).rejects.toThrow();
    expect([trial.line.stage, ...(await trial.state())]).toEqual(['loading', ...UNTOUCHED]);
    trial.stores.auth.owner.carryOver = async () => undefined;
    await expect(swap({ swapping: loseLockers })).rejects.toThrow('A session that kept writers out was lost.');
    expect(await trial.state()).toEqual(UNTOUCHED);
  });

  it('copies most of the data before writers are locked out', async () => {
    const stages: unknown[] = [];
    const note = (stage: string) => async () => void stages.push(stage, await write());
    Object.assign(trial.stores.auth.owner, { carryOverAhead: note('ahead'), carryOver: note('final') });
    await exchange({ beforeSwap: async () => void stages.push('safety backup') });
    const ahead = ['ahead', 'written'];
    expect(stages).toEqual([...ahead, 'safety backup', ...ahead, 'final', '55P03']); // a safety backup may take hours
  });

  it('continues if copying ahead makes no more progress, and ends the sessions in the new store', async () => {
    trial.loadLimits.stallMs = 100;
    const { owner, adminUrl } = trial.stores.auth;
    owner.carryOverAhead = async (database) => {
      await connectClient(inDatabase(adminUrl, database), 'begin; truncate sessions');
      await new Promise(() => undefined);
    };
    owner.carryOver = async (database) =>
      void (await query(inDatabase(adminUrl, database), `set lock_timeout = '2s'; truncate sessions`));
    await exchange();
    expect(trial.logged.map(({ msg }) => msg)).toContain('nothing was carried over ahead');
    expect(await trial.state()).toEqual(SWAPPED);
  });
});

describe('a swap of stores on several servers', () => {
  beforeEach(async () => (trial = await testStores.begin({ isApart: true })));

  it('keeps the new stores closed until it is decided, and then opens all of them', async () => {
    const [closed, swapped] = [['live: former, fresh: new'], ['live: (new), old: (former)']];
    const steps = [['swapping-apart', ...closed, ...closed], 'attempt', ['decided', ...swapped, ...swapped]];
    expect(await swap()).toEqual(steps);
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

/** `swapped`: the stores that were already swapped at the interruption. */
type Left = { stage: RestoreStage; swapped: StoreName[]; open?: boolean };

/** Settles a restore that was interrupted in that state. Returns the outcome and which database is where. */
async function settle({ stage, swapped, open = false }: Left) {
  Object.assign(trial.line, { stage, freshIds: trial.freshIds });
  for (const name of swapped) await trial.swap(name, { open });
  return [await settleRestore(trial, trial.line.id), ...(await trial.state())];
}

describe('an interrupted restore of stores on one server', () => {
  beforeEach(async () => (trial = await testStores.begin()));

  it.each<[Left, string[], object]>([
    [{ stage: 'loading', swapped: [] }, ['undone', ...UNTOUCHED], { stage: 'undone', endedAt: NOW, leftUntil: NOW }],
    [{ stage: 'swapping', swapped: [] }, ['undone', ...UNTOUCHED], { stage: 'undone', endedAt: NOW, leftUntil: NOW }],
    [
      { stage: 'swapping', swapped: ['tasks', 'auth'], open: true },
      ['restored', ...SWAPPED],
      { stage: 'restored', endedAt: NOW, leftUntil: KEPT_UNTIL },
    ],
    [{ stage: 'restored', swapped: [] }, ['restored', ...UNTOUCHED], { endedAt: null }],
    [{ stage: 'undone', swapped: [] }, ['undone', ...UNTOUCHED], { endedAt: null }],
  ])('is restored only if the stores were swapped, and is ended once: %j', async (left, expected, line) => {
    expect(await settle(left)).toEqual(expected);
    expect(trial.line).toMatchObject(line);
  });

  it('is settled only after a swap that is still running has ended', async () => {
    const settled = await whileAnotherWorks(() => settle({ stage: 'swapping', swapped: [] }), swapAll);
    expect(settled).toEqual(['restored', ...SWAPPED]);
  });

  it('is restored if its instance, presumed dead, still reached the swap', async () => {
    const { find } = trial.journal;
    trial.journal.find = async (id) => {
      const found = await find(id);
      if (found.stage === 'swapping') return found;
      trial.line.stage = 'swapping';
      await swapAll();
      return found;
    };
    expect(await settle({ stage: 'loading', swapped: [] })).toEqual(['restored', ...SWAPPED]);
  });

  it('does not count as restored because a new database is missing', async () => {
    await administer(`drop database ${trial.names.tasks.fresh}`);
    expect(await settle({ stage: 'swapping', swapped: [] })).toEqual(['undone', 'live: former', UNTOUCHED[1]]);
  });
});

it.each<[Left, string[]]>([
  [{ stage: 'swapping-apart', swapped: [] }, ['undone', ...UNTOUCHED]],
  [{ stage: 'swapping-apart', swapped: ['tasks'] }, ['undone', REVERTED, UNTOUCHED[1] as string]],
  [{ stage: 'swapping-apart', swapped: ['tasks', 'auth'] }, ['undone', REVERTED, REVERTED]],
  [{ stage: 'decided', swapped: ['tasks', 'auth'] }, ['restored', ...SWAPPED]],
  [{ stage: 'decided', swapped: ['tasks', 'auth'], open: true }, ['restored', ...SWAPPED]],
  [{ stage: 'decided', swapped: ['auth'] }, ['undone', UNTOUCHED[0] as string, REVERTED]],
  [{ stage: 'decided', swapped: [] }, ['undone', ...UNTOUCHED]],
])(
  'an interrupted restore on several servers is restored only if it was decided and no store was reverted: %j',
  async (left, expected) => {
    trial = await testStores.begin({ isApart: true });
    expect(await settle(left)).toEqual(expected);
  },
);

describe('undoing a restore', () => {
  const undo = () => {
    const kept = { ...trial.line, id: 'q', undoes: null };
    const running = { mayContinue: async () => true, onProgress: () => undefined };
    return undoRestore({ ...trial, onUnsettled: () => undefined }, { id: trial.line.id, kept, ...running });
  };

  beforeEach(async () => {
    trial = await testStores.begin({ undoes: 'q' });
    for (const { fresh } of Object.values(trial.names))
      await administer(`alter database ${fresh} allow_connections false`);
  });

  it('ends, with its sessions, when the service that owns a store shows no progress', async () => {
    trial.loadLimits.stallMs = 100;
    let ended: Promise<unknown> | undefined;
    trial.stores.auth.owner.resume = async (database) => {
      const held = await connectClient(inDatabase(trial.stores.auth.adminUrl, database));
      ended = new Promise((resolve) => held.once('error', resolve));
      await new Promise(() => undefined);
    };
    await expect(undo()).rejects.toThrow('There was no progress.');
    expect(await ended).toMatchObject({ code: '57P01' });
    expect(await trial.state()).toEqual([REVERTED, REVERTED]);
  }, 60_000);

  it('is settled after it died, even if a kept database is missing', async () => {
    await administer(`alter database ${trial.names.auth.fresh} allow_connections true`);
    await administer(`drop database ${trial.names.tasks.fresh}`);
    expect(await settle({ stage: 'loading', swapped: [] })).toEqual(['undone', 'live: former', REVERTED]);
    expect(trial.line.leftUntil).toBeNull();
  });
});
