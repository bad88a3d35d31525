import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { runBothWays } from './compare-with-graphql-js.ts';
import { createDice } from './seeded-random.ts';
import { fittingArguments } from './random-arguments.ts';
import { randomOperation } from './random-operations.ts';
import { openWorld, type Call, type World } from './world.ts';

const SUPERGRAPH = new URL('../../../services/gateway/supergraph.graphql', import.meta.url);

/** How many operations had something to report. */
export interface SeenOfOwnGraph {
  nulls: number;
  severalServices: number;
  changes: number;
  arguments: number;
}

/** Compares random operations over the product's own graph with graphql-js over one schema. */
export async function compareOnOwnGraph(options: { operations: number; seed: number }): Promise<SeenOfOwnGraph> {
  const sdl = readFileSync(SUPERGRAPH, 'utf8');
  const worlds: World[] = [0, 1, 2].map((seed) =>
    openWorld(sdl, { seed: options.seed + seed, failing: seed === 0 ? 0 : 14 * seed }),
  );
  const seen: SeenOfOwnGraph = { nulls: 0, severalServices: 0, changes: 0, arguments: 0 };
  const choice = fc.tuple(
    fc.noShrink(fc.constantFrom(...worlds)),
    fc.noShrink(fc.nat()),
    fc.constantFrom<'query' | 'mutation'>('query', 'query', 'mutation'),
  );
  const property = fc.asyncProperty(choice, async ([world, die, kind]) => {
    const { source, variables } = randomOperation(world.graph.schema, createDice(die), kind, {
      argumentsOf: fittingArguments,
    });
    const { ours, theirs, calls, reads } = await runBothWays(world, source, variables);
    if (theirs.nulls.length > 0) seen.nulls++;
    if (new Set(calls.map(({ service }) => service)).size > 1) seen.severalServices++;
    if (theirs.changes.length > 1) seen.changes++;
    if (source.includes(': "a"')) seen.arguments++;
    expect({ source, variables, ...ours }).toEqual({ source, variables, ...theirs });
    // One that fails keeps graphql-js from reading those behind it.
    if (theirs.nulls.length === 0) expect(reads.ours).toEqual(reads.theirs);
    else expect(reads.ours).toEqual(expect.arrayContaining(reads.theirs));
    expectOrder(calls);
  });
  await fc.assert(property, { seed: options.seed, numRuns: options.operations });
  return seen;
}

/** No one is asked about objects before somebody was asked for them. */
function expectOrder(calls: readonly Call[]): void {
  for (const [index, { text, variables }] of calls.entries()) {
    if (!text.includes('_entities')) continue;
    expect(calls.slice(0, index).some((call) => !call.text.includes('_entities'))).toBe(true);
    const asked = Object.entries(variables).filter(([name]) => name.startsWith('representations'));
    expect(asked.flatMap(([, value]) => value)).not.toEqual([]);
  }
}
