import { createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectKept, underLoad } from './campaign.ts';
import { useStack } from '../stack.ts';
import { describeDeletions } from './deletions.ts';
import { inject } from './inject.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_121);
const OWNERS = 4;
/** How long the load runs before, between and after the kills. */
const CALM_MS = 500;

describe('kill -9 of any process of the stack under load', () => {
  const random = createRandom(SEED);
  const faulty = useStack('kill');

  it('loses, repeats and reorders nothing in any protocol, even if Kafka comes back empty', async () => {
    const names = Array.from({ length: OWNERS }, (_, owner) => `killed-${owner}-of-${SEED}`);
    const { urls } = faulty.stack;
    const kept = await underLoad({ urls, random, paceMs: 40, names }, async (accounts) => {
      await sleep(CALM_MS);
      for (const target of ['gateway-1', 'tasks', 'postgres', 'auth', 'backup', 'redis', 'kafka']) {
        await inject(faulty, { target, kind: target === 'kafka' ? 'wipe' : 'kill', forMs: 0 });
        await sleep(CALM_MS * (0.5 + random()));
      }
      const admin = faulty.stack.processes.get('tasks')?.current.adminUrl ?? '';
      const isUp = async () =>
        ((await (await fetch(`${admin}/readyz?verbose`)).json()) as { checks: { eventLog: boolean } }).checks.eventLog;
      await eventually(isUp, { timeoutMs: 30_000 });
      // Enough writes for a verdict, however slow the machine is.
      const confirmed = () => accounts.reduce((sum, account) => sum + account.figures().confirmed, 0);
      await eventually(() => expect(confirmed()).toBeGreaterThan(200), { timeoutMs: 90_000 });
    });
    expectKept(kept);
  }, 240_000);

  describeDeletions(faulty);
});
