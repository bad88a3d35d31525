import { inDatabase } from '@taskmesh/store';
import { administer, connectClient } from '@taskmesh/testing';
import { settleRestore } from '../src/restore/settle-restore.ts';
import type { RestoreStage } from '../src/restore/restore.entities.ts';
import { undoRestore } from '../src/restore/restore-stores.ts';
import type { StoreName } from '../src/databases/store.ts';
import {
  createTestStores,
  KEPT_MS,
  NOW,
  SWAPPED,
  UNTOUCHED,
  whileAnotherWorks,
  type RestoreTrial,
} from './support/test-stores.ts';

const KEPT_UNTIL = new Date(NOW.getTime() + KEPT_MS);
let trial: RestoreTrial;

const testStores = await createTestStores();

interface Left {
  stage: RestoreStage;
  /** The stores that were already swapped at the interruption. */
  swapped: StoreName[];
  open?: boolean;
}

/** Settles a restore that was interrupted in that state. Returns the outcome and which database is where. */
async function settle({ stage, swapped, open = false }: Left): Promise<string[]> {
  Object.assign(trial.line, { stage, freshIds: trial.freshIds });
  for (const name of swapped) await trial.swap(name, { open });
  return [await settleRestore(trial, trial.line.id), ...(await trial.state())];
}

async function swapAll() {
  for (const name of ['tasks', 'auth'] as const) await trial.swap(name, { open: true });
}

describe('an interrupted restore of stores on one server', () => {
  beforeEach(async () => {
    trial = await testStores.begin();
  });

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

describe('an interrupted restore of stores on several servers', () => {
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
  ])('is restored only if it was decided and no store was reverted: %j', async (left, expected) => {
    expect(await settle(left)).toEqual(expected);
  });
});

describe('undoing a restore', () => {
  const undo = () =>
    undoRestore(
      { ...trial, onUnsettled: () => undefined },
      {
        id: trial.line.id,
        kept: { ...trial.line, id: 'q', undoes: null },
        mayContinue: async () => true,
        onProgress: () => undefined,
      },
    );

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
    expect(await trial.state()).toEqual(['live: former, fresh: (new)', 'live: former, fresh: (new)']);
  }, 60_000);

  it('is settled after it died, even if a kept database is missing', async () => {
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
