import { createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectKept, underLoad } from './campaign.ts';
import { useStack } from '../stack.ts';
import { describeDeletions } from './deletions.ts';
import { inject } from './inject.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const OWNERS = 4;
/** How long the load runs before, between and after the kills. */
const CALM_MS = 1_500;

describe('kill -9 of any process of the stack under load', () => {
  const random = createRandom(SEED);
  const faulty = useStack('kill');
  const load = () => ({ urls: faulty.stack.urls, random, paceMs: 40 });

  it.each([
    ['gateway-1', 'tasks', 'postgres'],
    ['auth', 'backup', 'redis', 'kafka'],
  ])(
    'loses, repeats and reorders nothing in any protocol: %s %s %s %s',
    async (...victims) => {
      const names = Array.from({ length: OWNERS }, (_, owner) => `${victims.join('-')}-${owner}-of-${SEED}`);
      const kept = await underLoad({ ...load(), names }, async (accounts) => {
        await sleep(CALM_MS);
        for (const target of victims) {
          await inject(faulty, { target, kind: 'kill', forMs: 0 });
          await sleep(CALM_MS * (0.5 + random()));
        }
        // Enough writes for a verdict, however slow the machine is.
        const confirmed = () => accounts.reduce((sum, account) => sum + account.figures().confirmed, 0);
        await eventually(() => expect(confirmed()).toBeGreaterThan(100), { timeoutMs: 90_000 });
      });
      expectKept(kept);
    },
    240_000,
  );

  it('loses nothing, and publishes again, when Kafka comes back empty', async () => {
    const { findings } = await underLoad({ ...load(), names: ['wiped'] }, async () => {
      await sleep(CALM_MS);
      await inject(faulty, { target: 'kafka', kind: 'wipe', forMs: 0 });
      const admin = faulty.stack.processes.get('tasks')?.current.adminUrl ?? '';
      const isUp = async () =>
        ((await (await fetch(`${admin}/readyz?verbose`)).json()) as { checks: { eventLog: boolean } }).checks.eventLog;
      await eventually(isUp, { timeoutMs: 30_000 });
    });
    expect(findings).toEqual([]);
  }, 180_000);

  describeDeletions(faulty);
});
