import { inDatabase } from '@taskmesh/store';
import { requiredAddress } from '@taskmesh/testing';
import { Client } from 'pg';
import { dropLeft, settleRestore } from '../src/restore/settle-restore.ts';
import type { RestoreStage } from '../src/restore/restore.entities.ts';
import { undoRestore } from '../src/restore/restore-stores.ts';
import type { StoreName } from '../src/databases/store.ts';
import {
  administer,
  createTestStores,
  KEPT_MS,
  NOW,
  type TestStores,
  type RestoreTrial,
} from './support/test-stores.ts';
import { withClient } from './support/with-client.ts';

const UNTOUCHED = ['live: former, fresh: new', 'live: former, fresh: new'];
const SWAPPED = ['live: new, old: (former)', 'live: new, old: (former)'];
const KEPT_UNTIL = new Date(NOW.getTime() + KEPT_MS);

let testStores: TestStores;
let trial: RestoreTrial;
beforeAll(async () => {
  testStores = await createTestStores();
});
afterAll(() => testStores.drop());

interface Left {
  stage: RestoreStage;
  /** The stores that were swapped when it was interrupted. */
  swapped: StoreName[];
  open?: boolean;
}

/** Settles a restore that was left like that: says what came of it, and what is where then. */
async function settle({ stage, swapped, open = false }: Left): Promise<string[]> {
  Object.assign(trial.line, { stage, freshIds: trial.freshIds });
  for (const name of swapped) await trial.swap(name, { open });
  return [await settleRestore(trial, 'r'), ...(await trial.state())];
}

describe('an interrupted restore of stores that have a server in common', () => {
  beforeEach(async () => {
    trial = await testStores.begin();
  });

  it.each(['loading', 'swapping'] as const)(
    'is undone when it was not swapped, and what it made may go at once: %s',
    async (stage) => {
      expect(await settle({ stage, swapped: [] })).toEqual(['undone', ...UNTOUCHED]);
      expect(trial.line).toMatchObject({ stage: 'undone', endedAt: NOW, leftUntil: NOW });
    },
  );

  it('is restored when it was, and what it replaced is kept', async () => {
    const left: Left = { stage: 'swapping', swapped: ['tasks', 'auth'], open: true };
    expect(await settle(left)).toEqual(['restored', ...SWAPPED]);
    expect(trial.line).toMatchObject({ stage: 'restored', endedAt: NOW, leftUntil: KEPT_UNTIL });
  });

  it.each(['restored', 'undone'] as const)('is not ended once more: %s', async (stage) => {
    expect(await settle({ stage, swapped: [] })).toEqual([stage, ...UNTOUCHED]);
    expect(trial.line.endedAt).toBeNull();
  });

  it('is settled when a swap that still continues is over, and not before', async () => {
    const lock = `hashtextextended('taskmesh-restore ' || current_user || ' r', 0)`;
    await withClient(inDatabase(requiredAddress('POSTGRES_URL'), 'postgres'), async (swapping) => {
      await swapping.query(`select pg_advisory_lock(${lock})`);
      const settled = settle({ stage: 'swapping', swapped: [] });
      const waiting = `select from pg_locks where locktype = 'advisory' and not granted and (classid::bigint << 32 | objid::bigint) = ${lock}`;
      while ((await administer(waiting)).length === 0);
      for (const name of ['tasks', 'auth'] as const) await trial.swap(name, { open: true });
      await swapping.query('select pg_advisory_unlock_all()');
      expect(await settled).toEqual(['restored', ...SWAPPED]);
    });
  });

  it('is what it became when it reached the swap after it was given up', async () => {
    const { find } = trial.journal;
    let isFirst = true;
    trial.journal.find = async (id) => {
      const found = await find(id);
      if (isFirst) {
        isFirst = false;
        Object.assign(trial.line, { stage: 'swapping', freshIds: trial.freshIds });
        for (const name of ['tasks', 'auth'] as const) await trial.swap(name, { open: true });
      }
      return found;
    };
    expect(await settle({ stage: 'loading', swapped: [] })).toEqual(['restored', ...SWAPPED]);
  });

  it('is not restored because a new database is gone', async () => {
    await administer(`drop database ${trial.names.tasks.fresh}`);
    expect(await settle({ stage: 'swapping', swapped: [] })).toEqual(['undone', 'live: former', UNTOUCHED[1]]);
  });
});

describe('an interrupted restore of stores of several servers', () => {
  beforeEach(async () => {
    trial = await testStores.begin({ isApart: true });
  });

  it.each<[Left, string[]]>([
    [{ stage: 'swapping-apart', swapped: [] }, ['undone', ...UNTOUCHED]],
    [{ stage: 'swapping-apart', swapped: ['tasks'] }, ['undone', 'live: former, fresh: (new)', UNTOUCHED[1] ?? '']],
    [
      { stage: 'swapping-apart', swapped: ['tasks', 'auth'] },
      ['undone', 'live: former, fresh: (new)', 'live: former, fresh: (new)'],
    ],
    [{ stage: 'decided', swapped: ['tasks', 'auth'] }, ['restored', ...SWAPPED]],
    [{ stage: 'decided', swapped: ['tasks', 'auth'], open: true }, ['restored', ...SWAPPED]],
    [{ stage: 'decided', swapped: ['auth'] }, ['undone', UNTOUCHED[0] ?? '', 'live: former, fresh: (new)']],
    [{ stage: 'decided', swapped: [] }, ['undone', ...UNTOUCHED]],
  ])('counts only as decided, and as long as no one has begun to take it back: %j', async (left, expected) => {
    expect(await settle(left)).toEqual(expected);
  });
});

describe('what an ended restore left', () => {
  beforeEach(async () => {
    trial = await testStores.begin();
  });

  it('goes with the role that filled it when it was undone; the live stores stay', async () => {
    const { loader } = trial.names.tasks;
    await administer(`create role ${loader}; grant connect on database ${trial.names.auth.live} to ${loader}`);
    Object.assign(trial.line, { stage: 'undone', leftUntil: NOW });
    expect(await dropLeft(trial, trial.line)).toBe(true);
    expect(await trial.state()).toEqual(['live: former', 'live: former']);
    expect(await administer('select from pg_roles where rolname = $1', [loader])).toEqual([]);
    expect(trial.line.leftUntil).toBeNull();
  });

  it('is what it replaced when it was restored', async () => {
    Object.assign(trial.line, { stage: 'restored', leftUntil: NOW });
    for (const name of ['tasks', 'auth'] as const) await trial.swap(name, { open: true });
    expect(await dropLeft(trial, trial.line)).toBe(true);
    expect(await trial.state()).toEqual(['live: new', 'live: new']);
  });

  it('stays in the journal when some of it cannot go now, and the rest goes', async () => {
    Object.assign(trial.line, { stage: 'undone', leftUntil: NOW });
    const subscription = `create subscription s connection '' publication p with (connect = false)`;
    const fresh = inDatabase(trial.stores.tasks.adminUrl, trial.names.tasks.fresh);
    await withClient(fresh, (client) => client.query(subscription));
    expect(await dropLeft(trial, trial.line)).toBe(false);
    expect(await trial.state()).toEqual([UNTOUCHED[0], 'live: former']);
    expect(trial.line.leftUntil).toEqual(NOW);
    expect(trial.logged).toMatchObject([{ msg: 'databases of an ended restore not removed yet', restore: 'r' }]);
    await withClient(fresh, async (client) => {
      await client.query('alter subscription s set (slot_name = none)');
      await client.query('drop subscription s');
    });
  });
});

describe('taking a restore back', () => {
  const phases: unknown[] = [];
  const undo = () =>
    undoRestore(
      { ...trial, onUnsettled: () => undefined },
      {
        id: 'r',
        kept: { ...trial.line, id: 'q', undoes: null },
        mayGoOn: async () => true,
        onProgress: (progress) => phases.push(Object.values(progress).join(' ')),
      },
    );

  beforeEach(async () => {
    phases.length = 0;
    trial = await testStores.begin({ undoes: 'q' });
    for (const { fresh } of Object.values(trial.names))
      await administer(`alter database ${fresh} allow_connections false`);
  });

  it('brings what was kept back, with what is set for the stores now, and keeps in turn what it replaces', async () => {
    const resumed: string[] = [];
    const { live, fresh } = trial.names.auth;
    await administer(`alter database ${live} connection limit 77`);
    for (const { owner } of Object.values(trial.stores)) owner.resume = async (database) => void resumed.push(database);
    expect(await undo()).toEqual({ isCleanUpPending: false, keptUntil: KEPT_UNTIL });
    expect(await trial.state()).toEqual(SWAPPED);
    expect(resumed).toEqual([trial.names.tasks.fresh, fresh]);
    expect(phases).toEqual(['check tasks', 'check auth', 'swap']);
    expect(trial.line).toMatchObject({ stage: 'restored', undoes: 'q', leftUntil: KEPT_UNTIL });
    expect(await administer('select datconnlimit as most from pg_database where datname = $1', [live])).toEqual([
      { most: 77 },
    ]);
    expect(trial.logged.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('reports what of the settings the stores from before have no place for', async () => {
    await withClient(trial.stores.auth.adminUrl, (client) =>
      client.query('create table if not exists extra (); grant select on extra to public'),
    );
    await undo();
    const warnings = trial.logged.filter(({ level }) => level === 'warn');
    const isGone = expect.stringContaining('relation "public.extra" does not exist');
    expect(warnings).toMatchObject([{ store: 'auth', refused: expect.arrayContaining([isGone]) }]);
  });

  it('that fails leaves what is kept closed, and to the one that it was to take back', async () => {
    trial.stores.auth.owner.resume = () => Promise.reject(new Error('auth is away'));
    await expect(undo()).rejects.toThrow('auth is away');
    expect(await trial.state()).toEqual(['live: former, fresh: (new)', 'live: former, fresh: (new)']);
    expect(trial.line).toMatchObject({ stage: 'undone', leftUntil: null });
  });

  it('ends when the service that owns a store shows no progress any more, and so does what it does there', async () => {
    trial.loadLimits.stallMs = 100;
    let held: Client | undefined;
    let ended: Promise<unknown> | undefined;
    trial.stores.auth.owner.resume = async (database) => {
      held = new Client({ connectionString: inDatabase(trial.stores.auth.adminUrl, database) });
      ended = new Promise((resolve) => held?.on('error', resolve));
      await held.connect();
      await new Promise(() => undefined);
    };
    await expect(undo()).rejects.toThrow('Nothing moves any more.');
    expect(await ended).toMatchObject({ code: '57P01' });
    expect(await trial.state()).toEqual(['live: former, fresh: (new)', 'live: former, fresh: (new)']);
  }, 60_000);

  it('that died is settled so, too, also when some of what was kept is gone', async () => {
    await administer(`alter database ${trial.names.auth.fresh} allow_connections true`);
    await administer(`drop database ${trial.names.tasks.fresh}`);
    expect(await settle({ stage: 'loading', swapped: [] })).toEqual([
      'undone',
      'live: former',
      'live: former, fresh: (new)',
    ]);
    expect(trial.line.leftUntil).toBeNull();
  });
});
