import { createRandom, numberFromEnv } from '@taskmesh/testing';
import { searchWorst, SPACES } from './search.ts';
import { BUDGETS, startMeasuring } from './suite.ts';

const SEED = numberFromEnv('LIMITS_SEED', 1);
const SECONDS = numberFromEnv('LIMITS_SECONDS', 60);

const measuring = await startMeasuring();
afterAll(() => measuring.product.stop());

it.each(SPACES)(
  'a search among $name finds nothing above the budget',
  async (space) => {
    const found = await searchWorst(measuring, space, createRandom(SEED), SECONDS);
    console.log(`Seed ${SEED}, ${SECONDS} s, ${space.name}: ${JSON.stringify(found)}`);
    expect(found.worst.cpuMs).toBeLessThan(BUDGETS[space.by].cpuMs);
    expect(found.worst.pauseMs).toBeLessThan(BUDGETS[space.by].pauseMs);
  },
  SECONDS * 1_000 + 300_000,
);
