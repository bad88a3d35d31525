import { compareRandomOperations } from './random-equality.ts';

describe('random operations over random supergraphs', () => {
  it('give the same data, key order, nulls and mutations as graphql-js on one schema', async () => {
    const seen = await compareRandomOperations({ supergraphs: 8, operations: 400, seed: 15 });
    // The comparison covered more than plain data.
    expect(seen.nulls).toBeGreaterThan(20);
    expect(seen.severalServices).toBeGreaterThan(100);
    expect(seen.changes).toBeGreaterThan(10);
    expect(seen.joined).toBeGreaterThan(10);
    for (const part of ['interface ', 'union ', '@provides', '@override', 'needed(n: 1)")', 'needed(n: 2)")'])
      expect(seen.schemas).toContain(part);
  });

  it('give the same where a service knows an interface without its types', async () => {
    const seen = await compareRandomOperations({ supergraphs: 6, operations: 150, seed: 38, interfaceObjects: true });
    expect(seen.schemas).toContain('@interfaceObject');
    expect(seen.nulls).toBeGreaterThan(10);
  });
});
