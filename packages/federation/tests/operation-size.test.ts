import { buildSchema, type OperationDefinitionNode, parse } from 'graphql';
import { costOf, type SizeOptions } from '../src/index.ts';

const schema = buildSchema(`
  type Query { shop: Shop!  tags: [Tag!]!  items(limit: Int = 5): [Item!]!  find(text: String): Item }

  type Shop { name: String!  stars: Int!  items(first: Int = 50, after: String): ItemPage! }
  type ItemPage { nodes: [Item!]!  total: Int! }
  type Item { id: ID!  title: String!  shop: Shop! }
  type Tag { name: String! }
`);

function costIn(source: string, options: SizeOptions, variables: Record<string, unknown>) {
  const document = parse(source);
  const operation = document.definitions[0] as OperationDefinitionNode; // the first in all these texts
  return costOf({ schema, document, operation }, options)(variables);
}

describe('the cost of an operation', () => {
  it.each<[string, number, SizeOptions, Record<string, unknown>]>([
    ['{ shop { name stars } }', 1, {}, {}],
    ['{ shop { a: name b: stars } }', 7, {}, {}],
    ['{ shop { items { nodes { id } } } }', 52, {}, {}],
    ['{ shop { items(first: 10) { nodes { id shop { name } } } } }', 22, {}, {}],
    ['{ shop { items(first: 5000) { nodes { id } } } }', 1_002, {}, {}],
    ['{ shop { items(first: 5000) { nodes { id } } } }', 102, { maxPage: 100 }, {}],
    ['query ($n: Int = 20) { shop { items(first: $n) { nodes { id } } } }', 9, {}, { n: 7 }],
    ['query ($n: Int) { shop { items(first: $n) { nodes { id } } } }', 52, {}, {}],
    ['query ($n: Int) { shop { items(first: $n) { nodes { id } } } }', 2, {}, { n: -3 }],
    ['{ items(limit: 9) { id } }', 1, {}, {}],
    ['{ items(limit: 9) { id shop { stars } } }', 18, { pageArgument: 'limit' }, {}],
    ['{ items { id } }', 5, { pageArgument: 'limit' }, {}],
    ['{ tags { name } }', 1, {}, {}],
    ['{ tags { name } }', 500, { lists: new Map([['tags', 500]]) }, {}],
    ['{ __schema { types { name fields { name } } } }', 25, {}, {}],
  ])('of %s is %d', (source, cost, options, variables) => expect(costIn(source, options, variables)).toBe(cost));

  it('is a number, even if there are more objects than a number can say', () => {
    const levels = 200;
    const pages = `${'items { nodes { shop { '.repeat(levels)} stars ${'} } } '.repeat(levels)}`;
    expect(costIn(`{ shop { ${pages} } }`, {}, {})).toBeGreaterThanOrEqual(Number.MAX_SAFE_INTEGER);
    expect(costIn(`{ shop { items(first: 0) { nodes { shop { ${pages} } } } } }`, {}, {})).toBe(2);
  });
});
