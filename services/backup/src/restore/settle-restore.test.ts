import { createLog } from '@taskmesh/service';
import { newRestore } from './restore-stores.ts';
import type { Restore, RestoreStage } from './restore.entities.ts';
import { settleRestore, type SettleDeps } from './settle-restore.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const KEPT_MS = 3_600_000;

async function settle(stage: RestoreStage, undoes: string | null = null) {
  const now = () => NOW;
  const line: Restore = newRestore({ now }, { id: 'r', file: 'a.tar.gz', stores: [], stage, undoes });
  const ends: unknown[] = [];
  const deps: SettleDeps = {
    stores: {} as SettleDeps['stores'],
    keepOldMs: KEPT_MS,
    now,
    log: createLog({ service: 'test', level: 'silent' }),
    journal: {
      find: async () => line,
      end: async ({ id }: Restore, end: object) => ends.push({ id, ...end }) > 0,
    } as unknown as SettleDeps['journal'],
  };
  return [await settleRestore(deps, 'r'), ends];
}

describe('an interrupted restore', () => {
  it.each(['loading', 'swapping', 'swapping-apart'] as const)(
    'of which nothing was replaced is undone, and leaves nothing to keep: %s',
    async (stage) => {
      expect(await settle(stage)).toEqual(['undone', [{ id: 'r', stage: 'undone', at: NOW, leftUntil: NOW }]]);
    },
  );

  it('that was decided is brought to its end, and what it replaced is kept for a while', async () => {
    const leftUntil = new Date(NOW.getTime() + KEPT_MS);
    expect(await settle('decided')).toEqual(['restored', [{ id: 'r', stage: 'restored', at: NOW, leftUntil }]]);
    expect(await settle('decided', 'q')).toEqual(['restored', [{ id: 'r', stage: 'restored', at: NOW, leftUntil }]]);
  });

  it('that took another one back, and is undone, leaves what that one keeps to it', async () => {
    expect(await settle('swapping', 'q')).toEqual(['undone', [{ id: 'r', stage: 'undone', at: NOW, leftUntil: null }]]);
  });

  it.each(['restored', 'undone'] as const)('that has ended is not ended once more: %s', async (stage) => {
    expect(await settle(stage)).toEqual([stage, []]);
  });
});
