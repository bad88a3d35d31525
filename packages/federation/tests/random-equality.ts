import fc from 'fast-check';
import { runBothWays } from './compare-with-graphql-js.ts';
import { createDice } from './seeded-random.ts';
import { randomOperation } from './random-operations.ts';
import { randomSubgraphs } from './random-supergraphs.ts';
import { createWorld, type Source, type World } from './world.ts';

export interface EqualityOptions {
  supergraphs: number;
  operations: number;
  /** Different seeds give different supergraphs. */
  seed: number;
  /** Half of the supergraphs have interface objects. For some deeper operations on these, the planner takes minutes. */
  interfaceObjects?: boolean;
}

const DEPTH = { usual: 5, withInterfaceObjects: 2 };

/** How many operations involved more than plain data. */
export interface Seen {
  nulls: number;
  severalServices: number;
  changes: number;
  /** Requests shared by several fetches. */
  joined: number;
  schemas: string;
}

/** An object's id encodes its type. */
const typeOf = ({ id }: Source) => String(id).slice(0, 1);

/** Compares random operations over random supergraphs with graphql-js over one schema. */
export async function compareRandomOperations({
  supergraphs,
  operations,
  seed: first,
  interfaceObjects = false,
}: EqualityOptions): Promise<Seen> {
  const depth = interfaceObjects ? DEPTH.withInterfaceObjects : DEPTH.usual;
  const worlds = new Map<number, World>();
  const seen: Seen = { nulls: 0, severalServices: 0, changes: 0, joined: 0, schemas: '' };
  const worldOf = (seed: number) => {
    const known = worlds.get(seed);
    if (known) return known;
    const subgraphs = randomSubgraphs(seed, { interfaceObjects });
    seen.schemas += subgraphs.map(({ sdl }) => sdl).join('');
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
    const { ours, theirs, calls, reads } = await runBothWays(world, source, variables);
    if (theirs.nulls.length > 0) seen.nulls++;
    if (new Set(calls.map(({ service }) => service)).size > 1) seen.severalServices++;
    if (theirs.changes.length > 1) seen.changes++;
    seen.joined += calls.filter(({ text }) => text.split('_entities(').length > 2).length;
    expect({ source, variables, ...ours }).toEqual({ source, variables, ...theirs });
    // After a failed field, graphql-js skips the following fields, but a service only those of its own request.
    if (theirs.nulls.length === 0) expect(reads.ours).toEqual(reads.theirs);
  });
  await fc.assert(property, { numRuns: operations });
  return seen;
}
