import { createRandom as createSequence } from '@taskmesh/testing';

export type Random = ReturnType<typeof createRandom>;

/** Pseudo-random numbers, reproducible by their seed. */
export function createRandom(seed: number) {
  /** From 0 to below 1. */
  const next = createSequence(seed);
  /** From 0 to below `below`. */
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (probability: number) => next() < probability,
    pick<Value>(values: readonly Value[]): Value {
      if (values.length === 0) throw new Error('nothing to pick from');
      return values[int(values.length)] as Value;
    },
    /** Runs one of these, each as often as its weight says. */
    oneOf(...choices: [weight: number, run: () => unknown][]): unknown {
      return this.pick(choices.flatMap(([weight, run]) => Array<() => unknown>(weight).fill(run)))();
    },
  };
}
