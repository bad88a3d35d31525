import { buildSchema, parse, type OperationDefinitionNode } from 'graphql';
import { readFileSync } from 'node:fs';
import { createParts, type PreparedOperation } from '../supergraph/operation.ts';
import { buildSupergraph } from '../supergraph/supergraph.ts';
import type { ChangeEvent } from './change-event.ts';
import { compileProjection } from './projection.ts';

const sdl = readFileSync(new URL('../../supergraph.graphql', import.meta.url), 'utf8');
const { schema } = buildSupergraph(sdl);

function prepared(source: string): PreparedOperation {
  const document = parse(source);
  const operation = document.definitions.find(
    (each): each is OperationDefinitionNode => each.kind === 'OperationDefinition',
  );
  if (!operation) throw new Error('no operation');
  return { source, schema, document, operation, operationName: undefined, partOf: createParts() };
}

const change = {
  cursor: 'c',
  sequence: 7,
  kind: 'UPDATE',
  occurredAt: 'now',
  task: {
    id: 't',
    title: 'a "quoted" title',
    description: null,
    priority: 'HIGH',
    owner: { __typename: 'User', id: 'u' },
  },
  previous: null,
};
const write = (source: string) => {
  const project = compileProjection(schema, prepared(source));
  return project && JSON.parse(project(change as unknown as ChangeEvent));
};

describe('writing an event without an executor', () => {
  it('honours aliases, order, nesting, nulls and __typename', () => {
    expect(
      JSON.stringify(
        write(
          'subscription { c: taskChanges { n: sequence __typename task { title description owner { id } } previous { id } } }',
        ),
      ),
    ).toBe(
      JSON.stringify({
        data: {
          c: {
            n: 7,
            __typename: 'TaskChange',
            task: { title: 'a "quoted" title', description: null, owner: { id: 'u' } },
            previous: null,
          },
        },
      }),
    );
  });

  it.each([
    ['a field of another service', 'subscription { taskChanges { task { owner { name } } } }'],
    ['a field with arguments', 'subscription { taskChanges { task { owner { tasks(first: 1) { totalCount } } } } }'],
    ['a directive', 'subscription($x: Boolean!) { taskChanges { sequence @include(if: $x) } }'],
    ['a directive on a fragment', 'subscription($x: Boolean!) { taskChanges { ... @skip(if: $x) { sequence } } }'],
  ])('leaves %s to the executor', (_what, source) => {
    expect(compileProjection(schema, prepared(source))).toBeUndefined();
  });

  it('does nothing for a graph without subscriptions', () => {
    expect(
      compileProjection(buildSchema('type Query { a: Int }'), prepared('subscription { taskChanges { sequence } }')),
    ).toBeUndefined();
  });
});
