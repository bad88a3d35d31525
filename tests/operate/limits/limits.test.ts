import { eventually } from '@taskmesh/testing';
import { ALL_CASES, CROWDED_HERE } from './all-cases.ts';
import { BUDGETS, KEPT_MIB, measureCase, measureCrowd, MEMORY_LIMIT_MIB, startMeasuring } from './suite.ts';

const measuring = await startMeasuring();
const { product } = measuring;
const keptMib = await product.keptMib();
afterAll(() => product.stop());

const KINDS = [...new Set(ALL_CASES.map(({ kind }) => kind))];
const ofKind = (kind: string) => ALL_CASES.filter((each) => each.kind === kind);

describe.each(KINDS)('a request at the limits of a %s', (kind) => {
  it.each(ofKind(kind))('$name ($by) stays within the budget', async (worst) => {
    const { outcome, cpuMs, pauseMs, privateMib } = await measureCase(measuring, worst);
    expect(outcome).toBe(worst.outcome);
    expect(cpuMs).toBeLessThan(BUDGETS[worst.by].cpuMs);
    expect(pauseMs).toBeLessThan(BUDGETS[worst.by].pauseMs);
    expect(privateMib).toBeLessThan(MEMORY_LIMIT_MIB);
  });
});

it.each(CROWDED_HERE)(
  '200 at once of $name ($by) fit in the memory of a gateway',
  async (worst) => {
    const { outcomes, privateMib } = await measureCrowd(measuring, worst);
    expect(outcomes).toHaveProperty([worst.outcome]); // the rest may be refused temporarily
    expect(privateMib).toBeLessThan(MEMORY_LIMIT_MIB);
  },
  300_000,
);

it('all of them together leave no more memory in use than the caches may hold', async () => {
  // Some memory is freed only when waits end.
  const isLittle = async () => expect((await product.keptMib()) - keptMib).toBeLessThan(KEPT_MIB);
  await eventually(isLittle, { timeoutMs: 90_000, everyMs: 500 });
});
