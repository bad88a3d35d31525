import { createRandom, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { underLoad } from '../../faults/campaign.ts';
import { describeReal, installationForTests } from './installation.ts';
import { kubectl, podsOf } from './kubectl.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_122);
const OWNERS = 3;
/** How long the load runs before and after the update. */
const CALM_MS = 3_000;

describeReal('pods that are replaced under load (not on nodes that run nothing)', () => {
  const product = installationForTests();

  it('answer every request and lose no change when a new version replaces them', async () => {
    const { namespace, release, way } = product();
    const pods = ['gateway', 'auth', 'tasks', 'backup'].map((each) => podsOf(namespace, each));
    const before = (await Promise.all(pods)).flat();
    const names = Array.from({ length: OWNERS }, (_, owner) => `update-${owner}-of-${SEED}`);
    const load = { urls: [way.url], names, random: createRandom(SEED), paceMs: 60 };
    const { findings, figures } = await underLoad(load, async () => {
      await sleep(CALM_MS);
      await release.change('upgrade', '--set', 'pod.annotations.version=another');
      const left = before.map((each) => `pod/${each}`);
      await kubectl(['wait', '-n', namespace, ...left, '--for=delete', '--timeout=120s']);
      await sleep(CALM_MS);
    });
    expect([way.failures, findings]).toEqual([[], []]);
    expect(figures.writes).toMatchObject({ refused: 0, unknown: 0, retried: 0 });
    expect(figures.writes.confirmed).toBeGreaterThan(100);
    for (const { resumes } of Object.values(figures.streams)) expect(resumes).toBeGreaterThan(0); // they had to move, too
  }, 600_000);
});
