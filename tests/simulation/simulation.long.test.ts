import { numberFromEnv } from '@taskmesh/testing';
import { runSchedules } from './run-schedules.ts';

const count = numberFromEnv('TASKMESH_SCHEDULES', 100_000);
/** Differs in each run; a failure prints its seed. */
const firstSeed = numberFromEnv('TASKMESH_SEED', Date.now() % 1_000_000_000);

it(`the simulated world keeps every promise, from seed ${firstSeed} on`, async () => {
  const { received } = await runSchedules(firstSeed, count);
  expect(received).toBeGreaterThan(count * 50);
}, 7_200_000);
