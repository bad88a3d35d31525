import { randomInt } from 'node:crypto';
import { compareRandomOperations, type EqualityOptions } from './random-equality.ts';

describe('many random operations over many random supergraphs', () => {
  it.each([
    ['with fully known types', { supergraphs: 150, operations: 12_000 }],
    ['with interface objects', { supergraphs: 60, operations: 3_000, interfaceObjects: true }],
  ])(
    'give the same data, key order, nulls and mutations as graphql-js on one schema: %s',
    async (_what, options: Omit<EqualityOptions, 'seed'>) => {
      const seed = randomInt(1_000_000);
      try {
        await compareRandomOperations({ ...options, seed });
      } catch (error) {
        throw new Error(`The supergraphs began with seed ${String(seed)}.`, { cause: error });
      }
    },
    900_000,
  );
});
