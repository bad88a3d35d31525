import { randomInt } from 'node:crypto';
import { compareRandomOperations } from './random-equality.ts';

describe('many random operations over many random supergraphs', () => {
  it('have the data, the order of keys, the nulls and the changes that graphql-js has over one schema', async () => {
    const seed = randomInt(1_000_000);
    try {
      await compareRandomOperations({ supergraphs: 150, operations: 12_000, seed });
    } catch (error) {
      throw new Error(`The supergraphs began with seed ${String(seed)}.`, { cause: error });
    }
  }, 900_000);
});
