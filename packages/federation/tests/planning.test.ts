import { parse } from 'graphql';
import { createFederatedExecutor, readSupergraph } from '../src/index.ts';
import { compose, graphOf } from './world.ts';

describe('a plan', () => {
  it('returns to a service with a key that the service can resolve', () => {
    const { plan } = graphOf({
      orders: `
        type Query { items: [Item!]! }
        type Item @key(fields: "number", resolvable: false) @key(fields: "number shelf { row }") {
          number: ID!
          shelf: Shelf!
          title: String @external
          label: String @requires(fields: "title")
        }
        type Shelf { row: ID! }
      `,
      catalogue: 'type Item @key(fields: "number") { number: ID! title: String }',
    });
    const { node } = plan(parse('{ items { label } }'));
    const back = node?.kind === 'Sequence' ? node.nodes.at(-1) : undefined;
    expect(back).toMatchObject({ kind: 'Flatten', node: { kind: 'Fetch', serviceName: 'orders' } });
    expect(JSON.stringify(back)).toContain('"name":"shelf"');
  });

  it('separates fields that a service requires with different arguments', async () => {
    const made = 'one: String @requires(fields: "size(n: 1)") two: String @requires(fields: "size(n: 2)")';
    const graph = graphOf({
      a: `
        type Query { first: First second: Second }
        type First @key(fields: "id") { id: ID! size(n: Int): Int }
        type Second @key(fields: "id") { id: ID! size(n: Int): Int }
      `,
      b: `
        type First @key(fields: "id") { id: ID! size(n: Int): Int @external ${made} }
        type Second @key(fields: "id") { id: ID! size(n: Int): Int @external ${made} }
      `,
    });
    for (const [root, type] of Object.entries({ first: 'First', second: 'Second' })) {
      const given: unknown[] = [];
      const executor = createFederatedExecutor(graph, async ({ operation, variables }) => {
        if (operation.service === 'b') {
          given.push((variables['representations'] as unknown[])[0]);
          return { data: { _entities: [{ one: 'made' }] } };
        }
        const key = /(\w+): size\(n: 1\)/.exec(operation.text)?.[1] ?? '';
        return { data: { [root]: { __typename: type, id: '1', [key]: 7 } } };
      });
      await executor.compile(parse(`{ ${root} { one } }`)).run({ variables: {}, context: undefined });
      expect(given).toEqual([{ __typename: type, id: '1', size: 7 }]);
    }
  });

  it('is rejected with the supergraph when it would depend on the label of an @override', () => {
    const supergraph = compose({
      a: 'type Query { word: String }',
      b: 'type Query { word: String @override(from: "a", label: "percent(100)") }',
    });
    expect(() => readSupergraph(supergraph)).toThrow('does not support @override with a label');
  });

  it('is rejected when no service provides a selected field', () => {
    const graph = graphOf({
      a: 'type Query { node: Node } interface Node @key(fields: "id") { id: ID! }',
      b: `
        type Query { other: Node }
        type Node @key(fields: "id", resolvable: false) @interfaceObject { id: ID! word: String }
      `,
    });
    const executor = createFederatedExecutor(graph, () => Promise.reject(new Error('Asked.')));
    let bytes = 0;
    const resized = (more: number) => void (bytes += more);
    expect(() => executor.compile(parse('{ node { word } }'), undefined, resized)).toThrow(
      'cannot provide the selected fields',
    );
    expect(bytes).toBe(0);
    expect(() => executor.compile(parse('{ other { word } }'))).not.toThrow();
  });
});
