import { planFaults } from './inject.ts';
import { createRandom } from './random.ts';

const TARGETS = ['kafka', 'tasks', 'postgres'];

function firstFaults(count: number, seed: number) {
  const plan = planFaults(TARGETS, createRandom(seed));
  return Array.from({ length: count }, () => plan.next().value);
}

describe('a plan of faults', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(firstFaults(30, 7)).toEqual(firstFaults(30, 7));
    expect(firstFaults(30, 7)).not.toEqual(firstFaults(30, 8));
  });

  it('does everything to everybody before anything comes again', () => {
    const faults = firstFaults(20, 3).map(({ target, kind }) => `${kind} ${target}`);
    expect(new Set(faults.slice(0, 10)).size).toBe(10);
    expect(faults.slice(10).toSorted()).toEqual(faults.slice(0, 10).toSorted());
  });

  it('freezes for one to eight seconds', () => {
    for (const { forMs } of firstFaults(100, 5)) {
      expect(forMs).toBeGreaterThanOrEqual(1_000);
      expect(forMs).toBeLessThanOrEqual(8_000);
    }
  });
});
