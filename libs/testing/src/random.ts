/** A seeded generator (mulberry32), so that a run can be repeated with its seed. Returns numbers from 0 to below 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Dice = ReturnType<typeof createDice>;

/** Pseudo-random choices, the same for the same seed. */
export function createDice(seed: number) {
  /** From 0 to below 1. */
  const next = createRandom(seed);
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (probability: number) => next() < probability,
    /** True with a probability of 1 in `times`. */
    oneIn: (times: number) => int(times) === 0,
    pick<Item>(items: readonly Item[]): Item {
      if (items.length === 0) throw new Error('There is nothing to pick from.');
      return items[int(items.length)] as Item;
    },
    some: <Item>(items: readonly Item[], oneIn: number) => items.filter(() => int(oneIn) === 0),
    /** Runs one of these, each as often as its weight says. */
    oneOf(...choices: [weight: number, run: () => unknown][]): unknown {
      return this.pick(choices.flatMap(([weight, run]) => Array<() => unknown>(weight).fill(run)))();
    },
  };
}

/** Reads a number that can be set for a test run. @throws if it is not a number */
export function numberFromEnv(name: string, otherwise: number): number {
  const value = Number(process.env[name] || otherwise);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number.`);
  return value;
}
