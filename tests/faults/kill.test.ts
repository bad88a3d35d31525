import { startStack, type Stack } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from './random.ts';
import { createActor, type Actor } from './workload.ts';

const SEED = Number(process.env.TASKMESH_SEED ?? 20_261_121);
const OWNERS = 4;
/** How long the load runs before, between and after the kills. */
const CALM_MS = 1_500;

describe('kill -9 of any process of the stack under load', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-kill-'));
  const random = createRandom(SEED);
  let stack: Stack;

  beforeAll(async () => {
    const env = { PATH: process.env.PATH, LOG_LEVEL: 'info' };
    stack = await startStack({ dataDir, gateways: 2, env, log: () => {} });
  }, 180_000);
  afterAll(async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true });
  }, 60_000);

  it.each([['gateway-1', 'tasks'], ['postgres'], ['auth', 'backup', 'redis'], ['kafka']])(
    'loses, repeats and reorders nothing that was confirmed: %s %s %s',
    async (...victims) => {
      const actors: Actor[] = [];
      for (let owner = 0; owner < OWNERS; owner++)
        actors.push(
          await createActor({ urls: stack.urls, name: `owner-${victims.join('-')}-${owner}`, random, paceMs: 10 }),
        );
      await sleep(CALM_MS);
      for (const name of victims) {
        const { pid, kill } = stack.processes.get(name) ?? { kill: () => undefined };
        kill('SIGKILL');
        await eventually(() => stack.processes.get(name)?.pid !== pid, { timeoutMs: 60_000 });
        await sleep(CALM_MS * (0.5 + random()));
      }
      await Promise.all(actors.map((actor) => actor.stop()));
      const problems = (await Promise.all(actors.map((actor) => actor.verdict()))).flat();
      const figures = actors.map((actor) => actor.figures());
      console.info(`seed ${SEED}, killed ${victims.join(', ')}:`, JSON.stringify(figures));
      expect(problems).toEqual([]);
      for (const { acknowledged, changes } of figures) {
        expect(acknowledged).toBeGreaterThan(20);
        expect(changes).toBeGreaterThanOrEqual(acknowledged);
      }
    },
    120_000,
  );
});
