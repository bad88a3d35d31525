/** Pseudo-random numbers, reproducible by their seed (mulberry32). */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** From 0 to below `below`. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
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
