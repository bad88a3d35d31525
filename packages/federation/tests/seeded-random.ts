import { createRandom } from '@taskmesh/testing';

export type Dice = ReturnType<typeof createDice>;

/** Pseudo-random numbers, the same for the same seed. */
export function createDice(seed: number) {
  const next = createRandom(seed);
  /** Less than `count`. */
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    /** True with a probability of 1 in `times`. */
    oneIn: (times: number) => below(times) === 0,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('There is nothing to pick from.');
      return item;
    },
    some: <Item>(items: readonly Item[], oneIn = 2) => items.filter(() => below(oneIn) === 0),
  };
}

/** FNV-1a with a finaliser. */
export function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16_777_619);
  value ^= value >>> 15;
  value = Math.imul(value, 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}
