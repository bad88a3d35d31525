import { compareOnOwnGraph } from './own-graph.ts';

it('random operations over the graph of the product have what graphql-js has over one schema, and ask for what it reads', async () => {
  const seen = await compareOnOwnGraph({ operations: 300, seed: 26 });
  expect(seen.nulls).toBeGreaterThan(50);
  expect(seen.severalServices).toBeGreaterThan(50);
  expect(seen.changes).toBeGreaterThan(10);
  expect(seen.arguments).toBeGreaterThan(50);
});
