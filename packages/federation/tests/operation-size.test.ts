import { buildSchema, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { costOf, createSizer, type SizeOptions } from '../src/index.ts';

const schema = buildSchema(`
  type Query { shop: Shop!  tags: [Tag!]!  items(limit: Int = 5): [Item!]!  find(text: String): Item }
  type Mutation { login(password: String): Int  logIn(password: String): Int  logout: Int }
  type Shop { name: String!  stars: Int!  items(first: Int = 50, after: String): ItemPage! }
  type ItemPage { nodes: [Item!]!  total: Int! }
  type Item { id: ID!  title: String!  shop: Shop! }
  type Tag { name: String! }
`);

/** The sizes of a document's operations. */
function sizesOf(source: string, options?: SizeOptions, variables?: Record<string, unknown>) {
  const document = parse(source);
  const sizeOf = createSizer({ schema, document }, options, variables);
  return document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION).map(sizeOf);
}
const sizeOf = (source: string, options?: SizeOptions) => sizesOf(source, options)[0];

function costIn(source: string, options: SizeOptions, variables: Record<string, unknown>) {
  const document = parse(source);
  const operation = document.definitions[0] as OperationDefinitionNode; // the first in all these texts
  return costOf({ schema, document, operation }, options)(variables);
}

describe('the size of an operation', () => {
  it('has fields, aliases and arguments as often as fragments are spread', () => {
    const fragments = 'fragment F on Shop { ...G ...G } fragment G on Shop { x: stars items(after: "123") { total } }';
    expect(sizeOf(`{ shop { ...F } } ${fragments}`)).toMatchObject({ depth: 3, aliases: 2, fields: 7, characters: 24 });
    expect(sizeOf(`{ shop { ...F } b: shop { ...F } } ${fragments}`)).toMatchObject({ aliases: 5, fields: 14 });
  });

  it('is counted in time that does not grow with the number of spreads', () => {
    const levels = Array.from({ length: 60 }, (_, at) => `fragment F${at} on Shop { ...F${at + 1} ...F${at + 1} }`);
    const size = sizeOf(`{ shop { ...F0 } } ${levels.join(' ')} fragment F60 on Shop { stars }`);
    expect(size).toMatchObject({ depth: 2, fields: 2 ** 60 + 1 });
  });

  it('has an equal field without a selection once per set', () => {
    expect(sizeOf('{ shop { stars stars name stars } }')).toMatchObject({ fields: 3 });
  });

  it('has the mutations that are to be counted, in fragments as well', () => {
    const counted = new Set(['login', 'logIn']);
    const source = 'mutation { ...A ...B logout } fragment A on Mutation { login } fragment B on Mutation { a: logIn }';
    expect(sizeOf(source, { counted })).toMatchObject({ counted: 2 });
    expect(sizeOf(source)).toMatchObject({ counted: 0 });
  });

  it('has the levels of introspection apart from its own', () => {
    const source = '{ shop { name } __schema { types { fields { name } } } }';
    expect(sizeOf(source)).toMatchObject({ depth: 2, introspectionDepth: 4 });
  });

  it('is finite for a document that is not valid', () => {
    const source = '{ nothing { at } shop { ...F ...Lost } } fragment F on Shop { stars ...F }';
    expect(sizeOf(source)).toMatchObject({ depth: 2, fields: 4 });
  });

  it('is that of each operation', () => {
    const sizes = sizesOf('query A { shop { ...F } } query B { b: shop { stars ...F } } fragment F on Shop { name }');
    expect(sizes).toMatchObject([
      { fields: 2, aliases: 0 },
      { fields: 3, aliases: 1 },
    ]);
  });
});

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
  ])('of %s is %d', (source, cost, options, variables) => {
    expect(costIn(source, options, variables)).toBe(cost);
  });

  it('is a number, even if there are more objects than a number can say', () => {
    const levels = 200;
    const pages = `${'items { nodes { shop { '.repeat(levels)} stars ${'} } } '.repeat(levels)}`;
    expect(costIn(`{ shop { ${pages} } }`, {}, {})).toBeGreaterThanOrEqual(Number.MAX_SAFE_INTEGER);
    expect(costIn(`{ shop { items(first: 0) { nodes { shop { ${pages} } } } } }`, {}, {})).toBe(2);
  });
});
