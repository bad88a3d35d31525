import { numberFromEnv } from '@taskmesh/testing';
import { printLine } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeBackup, restoreBackup } from '../http.ts';
import type { Account } from './account.ts';
import { runCampaign, type DoneFault } from './campaign.ts';
import type { Restore } from './write.ts';
import { miscounted } from './remains.ts';
import { useStack } from '../stack.ts';
import { inject, shuffled } from './inject.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_123);
const CALM_MS = 6_000;
/** How long a process is frozen around the moment in which the stores are swapped. */
const FREEZE_MS = { least: 500, most: 4_000 };
/** The process to freeze in each restore, so that responses of the old store wait in its sockets; undefined freezes none. */
const FROZEN = ['gateway-1', 'gateway-2', 'gateway-1', 'gateway-2', 'tasks', 'kafka', undefined, undefined];
const RESTORES = FROZEN.length;

describe('the feed while the tasks are restored again and again', () => {
  const faulty = useStack('restores');

  const restore = async (url: string, file: string): Promise<Restore> => {
    const sentAt = performance.now();
    const body = { message: expect.stringMatching(/^Database restored/) };
    expect(await restoreBackup(url, file)).toMatchObject({ status: 200, body });
    return { sentAt, answeredAt: performance.now() };
  };

  const restoreAgainAndAgain = async (accounts: Account[], random: () => number): Promise<DoneFault[]> => {
    const done: DoneFault[] = [];
    await sleep(CALM_MS);
    const file = await makeBackup(faulty.stack.urls[0] ?? '');
    for (const [index, target] of shuffled(FROZEN, random).entries()) {
      await sleep(CALM_MS * (0.5 + random()));
      const forMs = FREEZE_MS.least + random() * (FREEZE_MS.most - FREEZE_MS.least);
      const url = faulty.stack.urls[target === 'gateway-1' ? 1 : 0] ?? '';
      const freezing = target ? `, freeze ${target} for ${(forMs / 1000).toFixed(1)} s` : '';
      printLine(`restore ${index + 1} of ${RESTORES}${freezing}`);
      const frozen = target && inject(faulty, { target, kind: 'freeze', forMs });
      const [restored] = await Promise.all([restore(url, file), frozen]);
      printLine(`  restored in ${((restored.answeredAt - restored.sentAt) / 1000).toFixed(1)} s`);
      done.push({ target: 'tasks', kind: 'restore' }, ...(target ? [{ target, kind: 'freeze' }] : []));
      await Promise.all(accounts.map((account) => account.restored(restored)));
    }
    await sleep(CALM_MS);
    return done;
  };

  it('ends every feed of the old tasks, delivers all changes of the new ones, and never mixes them', async () => {
    const result = await runCampaign({
      urls: faulty.stack.urls,
      seed: SEED,
      owners: Array.from({ length: 4 }, () => ({ paceMs: 60, isRestored: true })),
      faults: restoreAgainAndAgain,
      cutEveryMs: 4_000, // so that streams reconnect at every moment of a restore
    });
    expect(result.findings).toEqual([]);
    expect(await miscounted(faulty.stack)).toEqual([]);
    const { writes, streams } = result.figures;
    expect(writes.confirmed).toBeGreaterThan(100);
    for (const { events, resumes } of Object.values(streams)) {
      expect(events).toBeGreaterThan(100);
      expect(resumes).toBeGreaterThanOrEqual(RESTORES);
    }
  }, 400_000);
});
