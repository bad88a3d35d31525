import { createRandom, numberFromEnv } from '@taskmesh/testing';
import { printLine } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeBackup, restoreBackup } from '../http.ts';
import { createBystanders } from './bystanders.ts';
import { doRandomFaults, runCampaign, type DoneFault } from './campaign.ts';
import { useStack } from '../stack.ts';
import type { Guest } from './guest.ts';
import { contradictingGuests, hostGuests } from './guests.ts';
import { planFaults } from './inject.ts';
import { readPublished } from './published.ts';
import { miscounted, wrongRemains } from './remains.ts';

/** Determines the schedule of faults, the writes, the cuts and the deletions. */
const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const DURATION_MS = numberFromEnv('TASKMESH_CAMPAIGN_S', 240) * 1000;
const TARGETS = ['kafka', 'gateway-1', 'gateway-2', 'tasks', 'auth', 'redis', 'postgres'];
/** At the end of each round, nothing may be left of deleted accounts. */
const ROUNDS = 4;
const OVERHEAD_MS = 300_000 + ROUNDS * 120_000;
/** The time until the first guests write. */
const ARRIVAL_MS = 3_000;
/** Occurs in everything that deleted accounts have written. */
const MARK = `guest-${SEED}`;

describe('the feed while everything around it is killed, frozen and restarted, and accounts are deleted', () => {
  const faulty = useStack('campaign');
  const guests: Guest[] = [];
  let archive = '';

  it(
    'loses, repeats and reorders nothing in any protocol, shows no one anything of others, and keeps nothing of those who are gone',
    async () => {
      const { stack } = faulty;
      const guestsRandom = createRandom(SEED * 31 + 4);
      const published = await readPublished(stack);
      const bystanders = await createBystanders(stack, `bystander-${SEED}`);
      const before = await bystanders.rows();
      const findings: string[] = [];

      const inRounds = async (_accounts: unknown, random: () => number): Promise<DoneFault[]> => {
        const done: DoneFault[] = [];
        const plan = planFaults(TARGETS, random);
        for (let round = 1; round <= ROUNDS; round++) {
          const options = { ...faulty, stack, published, mark: `${MARK}-${round}`, random: guestsRandom };
          const hosted = hostGuests(options);
          if (archive === '') {
            await sleep(ARRIVAL_MS);
            archive = await makeBackup(stack.urls[0] ?? '');
          }
          const durationMs = DURATION_MS / ROUNDS;
          done.push(...(await doRandomFaults({ ...options, targets: TARGETS, durationMs, plan }, random)));
          const gone = await hosted.stop();
          guests.push(...gone);
          const found = await contradictingGuests(gone, done, options);
          const lost = gone.reduce((sum, { lostResponses }) => sum + lostResponses, 0);
          printLine(
            `round ${round}: ${gone.length} accounts deleted, ${lost} answers of that lost; ${found.length} findings`,
          );
          for (const what of found.slice(0, 20)) printLine(`  ! ${what.slice(0, 400)}`);
          findings.push(...found);
        }
        return done;
      };

      const owners = Array.from({ length: 6 }, () => ({ paceMs: 60 }));
      const result = await runCampaign({ urls: stack.urls, seed: SEED, owners, faults: inRounds });
      await published.close();
      expect(findings).toEqual([]);
      expect(result.findings).toEqual([]);
      expect(await miscounted(stack)).toEqual([]);
      expect(await bystanders.rows()).toEqual(before);
      expect(guests.length).toBeGreaterThan(ROUNDS);
      const { writes, streams, cuts } = result.figures;
      expect(writes.confirmed).toBeGreaterThan(100);
      for (const { events, resumes } of Object.values(streams)) {
        expect(events).toBeGreaterThanOrEqual(writes.confirmed);
        expect(resumes).toBeGreaterThan(0);
      }
      expect(cuts).toBeGreaterThan(0);
    },
    DURATION_MS + OVERHEAD_MS,
  );

  it('does not bring back deleted accounts from an archive that still contains them', async () => {
    const { stack } = faulty;
    const { status, body } = await restoreBackup(stack.urls[0] ?? '', archive);
    expect({ status, body }).toMatchObject({ status: 200 });
    expect(await wrongRemains(stack, { ids: guests.map(({ ownerId }) => ownerId), mark: MARK })).toEqual([]);
  });
});
