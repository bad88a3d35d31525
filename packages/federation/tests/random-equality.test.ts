import { createDice } from '@taskmesh/testing';
import fc from 'fast-check';
import { randomInt } from 'node:crypto';
import { runLikeGraphqlJs } from './compare-with-graphql-js.ts';
import { randomOperation } from './random-operations.ts';
import { randomSubgraphs } from './random-supergraphs.ts';
import { createWorld, type Source, type World } from './world.ts';

const isLong = process.env.TASKMESH_LONG !== undefined;
if (isLong) jest.setTimeout(900_000);

/** Without duplicates: only graphql-js reads a field twice for two aliases. */
const once = (reads: readonly string[]) => [...new Set(reads)].toSorted();

/** An object's id encodes its type. */
const typeOf = ({ id }: Source) => String(id).slice(0, 1);

/**
 * Compares random operations over random supergraphs with graphql-js over one schema. In long runs, both are more, and others
 * each time. `interfaceObjects`: half of the supergraphs have some. For some deeper operations on these, the planner takes minutes.
 */
async function compare(short: { supergraphs: number; operations: number; seed: number }, interfaceObjects = false) {
  const long = { supergraphs: 20 * short.supergraphs, operations: 30 * short.operations, seed: randomInt(1_000_000) };
  const { supergraphs, operations, seed: first } = isLong ? long : short;
  const depth = interfaceObjects ? 2 : 5;
  const worlds = new Map<number, World>();
  /** How many operations involved more than plain data. `joined`: requests shared by several fetches. */
  const seen = { nulls: 0, severalServices: 0, changes: 0, joined: 0, schemas: '' };
  const worldOf = (seed: number) => {
    const known = worlds.get(seed);
    if (known) return known;
    const subgraphs = randomSubgraphs(seed, { interfaceObjects });
    seen.schemas += Object.values(subgraphs).join('');
    // Nothing fails in a third of the graphs.
    const world = createWorld(subgraphs, { seed, failing: seed % 3 === 0 ? 0 : 14, typeOf });
    worlds.set(seed, world);
    return world;
  };
  const choice = fc.tuple(
    fc.noShrink(fc.integer({ min: first, max: first + supergraphs - 1 })),
    fc.noShrink(fc.nat()),
    fc.constantFrom<'query' | 'mutation'>('query', 'query', 'query', 'mutation'),
  );
  const property = fc.asyncProperty(choice, async ([seed, die, kind]) => {
    const world = worldOf(seed);
    const { source, variables } = randomOperation(world.graph.schema, createDice(die), kind, depth);
    const { nulls, changes, calls } = await runLikeGraphqlJs(world, source, variables);
    if (nulls.length > 0) seen.nulls++;
    if (new Set(calls.map(({ service }) => service)).size > 1) seen.severalServices++;
    if (changes.length > 1) seen.changes++;
    seen.joined += calls.filter(({ text }) => text.split('_entities(').length > 2).length;
    // After a failed field, graphql-js skips the following fields, but a service only those of its own request.
    if (nulls.length === 0) expect(once(world.reads.services)).toEqual(once(world.reads.merged));
  });
  await fc.assert(property, { numRuns: operations });
  return seen;
}

describe('random operations over random supergraphs', () => {
  it('give the same data, key order, nulls and mutations as graphql-js on one schema', async () => {
    const seen = await compare({ supergraphs: 8, operations: 400, seed: 15 });
    // The comparison covered more than plain data.
    expect(seen.nulls).toBeGreaterThan(20);
    expect(seen.severalServices).toBeGreaterThan(100);
    expect(seen.changes).toBeGreaterThan(10);
    expect(seen.joined).toBeGreaterThan(10);
    for (const part of ['interface ', 'union ', '@provides', '@override', 'needed(n: 1)")', 'needed(n: 2)")'])
      expect(seen.schemas).toContain(part);
  });

  it('give the same where a service knows an interface without its types', async () => {
    const seen = await compare({ supergraphs: 6, operations: 150, seed: 38 }, true);
    expect(seen.schemas).toContain('@interfaceObject');
    expect(seen.nulls).toBeGreaterThan(10);
  });
});
