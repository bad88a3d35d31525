import { createRandom, numberFromEnv } from '@taskmesh/testing';
import { startMeasuredProduct } from './measured-product.ts';
import { searchWorst, SPACES } from './search.ts';
import { BUDGETS, createAccount, measureSlowness } from './suite.ts';

const SEED = numberFromEnv('LIMITS_SEED', 1);
const SECONDS = numberFromEnv('LIMITS_SECONDS', 60);

const product = await startMeasuredProduct();
const account = await createAccount(product);
const slowness = await measureSlowness(product, account);
afterAll(() => product.stop());

it.each(SPACES)(
  'a search among $name finds nothing above the budget',
  async (space) => {
    const given = { product, account, slowness, random: createRandom(SEED), seconds: SECONDS };
    const found = await searchWorst(space, given);
    console.log(`Seed ${SEED}, ${SECONDS} s, ${space.name}: ${JSON.stringify(found)}`);
    expect(found.worst.cpuMs).toBeLessThan(BUDGETS[space.by].cpuMs);
    expect(found.worst.pauseMs).toBeLessThan(BUDGETS[space.by].pauseMs);
  },
  SECONDS * 1_000 + 300_000,
);
