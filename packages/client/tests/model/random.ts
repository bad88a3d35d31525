import { createRandom as createSequence } from '@taskmesh/testing';

/** Pseudo-random numbers, reproducible by their seed. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** From 0 to below `below`. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

export function createRandom(seed: number): Random {
  const next = createSequence(seed);
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick(values) {
      if (values.length === 0) throw new Error('nothing to pick from');
      return values[int(values.length)] as (typeof values)[number];
    },
  };
}
