import { say } from '@taskmesh/local';
import { doRandomFaults, report, runCampaign } from './campaign.ts';
import { miscounted } from './counts.ts';
import { useFaultStack } from './fault-stack.ts';
import { numberFromEnv } from './random.ts';

/** The schedule of faults, what is written and who is cut off follow from it. */
const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const DURATION_MS = numberFromEnv('TASKMESH_CAMPAIGN_S', 240) * 1000;
const TARGETS = ['kafka', 'gateway-1', 'gateway-2', 'tasks', 'auth', 'redis', 'postgres'];
const OVERHEAD_MS = 300_000;

describe('the feed while everything around it is killed, frozen and restarted', () => {
  const faulty = useFaultStack('campaign');

  it(
    'loses, repeats and reorders nothing in any protocol, and shows nobody anything of others',
    async () => {
      const result = await runCampaign({
        urls: faulty.stack.urls,
        seed: SEED,
        owners: Array.from({ length: 6 }, () => ({ paceMs: 60 })),
        faults: (_accounts, random) =>
          doRandomFaults({ ...faulty, targets: TARGETS, durationMs: DURATION_MS, log: say }, random),
        log: say,
      });
      say(report(result));
      expect(result.contradictions).toEqual([]);
      expect(result.surprises).toEqual([]);
      expect(await miscounted(faulty.stack)).toEqual([]);
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
});
