import { runBothWays } from './compare-with-graphql-js.ts';
import { ODD_SUPERGRAPHS } from './odd-supergraphs.ts';
import { fittingArguments } from './random-arguments.ts';
import { randomOperation } from './random-operations.ts';
import { createDice } from './seeded-random.ts';
import { createWorld } from './world.ts';

describe.each(Object.entries(ODD_SUPERGRAPHS))(
  'random operations over a supergraph with %s',
  (_name, { subgraphs, fixed }) => {
    it.each([0, 9])(
      'have what graphql-js has over one schema, where one value in so many fails: %i',
      async (failing) => {
        const world = createWorld(subgraphs, { seed: 5, failing, ...(fixed && { fixed }) });
        let ofSeveralServices = 0;
        for (let seed = 0; seed < 150; seed++) {
          const kind = seed % 4 === 0 && world.graph.schema.getMutationType() ? 'mutation' : 'query';
          const { source, variables } = randomOperation(world.graph.schema, createDice(seed), kind, {
            argumentsOf: fittingArguments,
          });
          const { ours, theirs, calls } = await runBothWays(world, source, variables);
          expect({ source, variables, ...ours }).toEqual({ source, variables, ...theirs });
          if (new Set(calls.map(({ service }) => service)).size > 1) ofSeveralServices++;
        }
        expect(ofSeveralServices).toBeGreaterThan(20);
      },
    );
  },
);
