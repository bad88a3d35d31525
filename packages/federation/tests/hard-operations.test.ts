import { runLikeGraphqlJs } from './compare-with-graphql-js.ts';
import { createWorld, type Source, type Subgraphs } from './world.ts';

/** Cases that query planners and executors are known to get wrong. */
const SUBGRAPHS: Subgraphs = {
  shop: `
    type Query { products: [Product] }
    type Product @key(fields: "id") { id: ID! sizes: [Size] }
    type Size @shareable { value: Int other: Int }
  `,
  shipping: `
    type Query { dimension: Int }
    type Product @key(fields: "id") {
      id: ID!
      sizes: [Size] @external
      crates: String @requires(fields: "sizes { value }")
    }
    type Size @shareable { value: Int other: Int }
  `,
  results: `
    type Query { results: [Result] }
    interface Solo @key(fields: "id") { id: ID! }
    type Only implements Solo @key(fields: "id") { id: ID! word: String }
    interface Result @key(fields: "id") { id: ID! title: String }
    type Hit implements Result @key(fields: "id") { id: ID! title: String hits: Int }
    type Miss implements Result @key(fields: "id") { id: ID! title: String }
  `,
  ranks: `
    type Query { items: [Item] solo: Solo }
    type Solo @key(fields: "id") @interfaceObject { id: ID! next: Solo }
    type Item @key(fields: "id") { id: ID! best: Result }
    type Result @key(fields: "id") @interfaceObject { id: ID! rank: Int }
  `,
  pages: `
    type Query { page: Page taskPage: TaskPage pair(of: Pair): Task }
    input Pair { a: Int b: [Pair] }
    interface Page { nodes: [Node!]! }
    type TaskPage implements Page { nodes: [Task!]! }
    interface Node { id: ID! }
    type Task implements Node { id: ID! title: String }
    type User implements Node { id: ID! name: String }
  `,
  halls: `
    type Query { seats: [[Seat]] }
    type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! price: String }
    type Row @shareable { hall: Hall! number: Int! }
    type Hall @key(fields: "name") { name: String! }
  `,
  guests: `
    type Query { guest: Guest }
    type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! guest: Guest }
    type Row @shareable { hall: Hall! number: Int! }
    type Hall @key(fields: "name") { name: String! owner: String }
    type Guest @key(fields: "seat { side row { number hall { name } } }") { seat: Seat! }
  `,
  names: `
    type Guest @key(fields: "seat { side row { number hall { name } } }") { seat: Seat! nick: String! }
    type Seat @shareable { side: String! row: Row! }
    type Row @shareable { number: Int! hall: Hall! }
    type Hall @key(fields: "name") { name: String! }
  `,
};

function seat(hall: string, number: number, side: string) {
  return { __typename: 'Seat', side, row: { __typename: 'Row', number, hall: { __typename: 'Hall', name: hall } } };
}

function nameOfSeat({ side, row: { number, hall } }: ReturnType<typeof seat>): string {
  return `${hall.name} ${number} ${side}`;
}

const entity = (typename: string, id: string) => ({ __typename: typename, id });
const rank = ({ id }: Source) => 7 + Number(id);
const only = () => entity('Only', 'o');

const VALUES: Record<string, (source: Source) => unknown> = {
  'Query.products': () => [entity('Product', '1'), entity('Product', '2')],
  'Product.sizes': () => [{ __typename: 'Size' }, null],
  'Product.crates': () => 'two',
  'Size.value': () => 1,
  'Query.results': () => [entity('Hit', '1'), entity('Miss', '2')],
  ...{ 'Hit.rank': rank, 'Miss.rank': rank, 'Result.rank': rank },
  ...{ 'Query.solo': only, 'Solo.next': only, 'Only.next': only },
  'Query.items': () => [entity('Item', '1')],
  'Item.best': () => entity('Hit', '1'),
  'Query.seats': () => [
    [seat('A', 1, 'left'), null, seat('A', 1, 'right')],
    [seat('B', 1, 'left'), seat('A', 1, 'left')],
    null,
  ],
  'Seat.price': (source) => nameOfSeat(source as ReturnType<typeof seat>),
  'Query.guest': () => ({ __typename: 'Guest', seat: seat('B', 2, 'right') }),
  'Seat.guest': (source) => (source.side === 'right' ? null : { __typename: 'Guest', seat: source }),
  'Guest.nick': (source) => nameOfSeat(source.seat as ReturnType<typeof seat>),
  'Hall.owner': ({ name }) => (name === 'B' ? null : `owner of ${String(name)}`),
};

const world = createWorld(SUBGRAPHS, {
  seed: 1,
  fixed: (type, field, source) => (VALUES[`${type}.${field}`] ?? (() => source[field]))(source),
  typeOf: ({ id }) => (id === 'o' ? 'Only' : id === '1' ? 'Hit' : 'Miss'),
});

describe('operations that the random ones do not cover', () => {
  it.each([
    // Interface objects.
    '{ items { best { ... on Hit { __typename } } } }',
    '{ items { best { ... on Hit { hits rank } ... on Miss { __typename } title } } }',
    '{ results { rank ... on Hit { rank hits } } }',
    '{ items { best { rank id } } }',
    '{ solo { ... on Only { next { id } } } }',
    '{ solo { next { ... on Only { word next { id } } } } }',
    // A field that has a wider type on the interface.
    '{ page { ... on TaskPage { nodes { title } } } }',
    '{ page { nodes { id } ... on TaskPage { nodes { title } ... on Page { nodes { ... on Task { title } } } } } }',
    '{ taskPage { nodes { title } ... on Page { nodes { id ... on User { name } } } } }',
    // Arguments that are written in another order.
    '{ pair(of: { a: 1, b: [{ a: 2, b: [] }] }) { id } pair(of: { b: [{ b: [], a: 2 }], a: 1 }) { title } }',
  ])('have the same result: %s', async (source) => {
    await runLikeGraphqlJs(world, source);
  });

  it.each([
    '{ seats { guest { nick seat { price row { hall { owner } } } } } }',
    '{ guest { nick seat { price row { number hall { owner } } } } seats { price } }',
  ])('resolve objects by nested keys: %s', async (source) => {
    const { calls } = await runLikeGraphqlJs(world, source);
    expect(new Set(calls.map(({ service }) => service))).toEqual(new Set(['halls', 'guests', 'names']));
  });

  it('send exactly the required fields of an object, including those in lists', async () => {
    const { calls } = await runLikeGraphqlJs(world, '{ products { sizes { value other } crates } }');
    const sizes = [{ value: 1 }, null];
    expect(calls.at(-1)?.variables['representations']).toEqual([
      { __typename: 'Product', id: '1', sizes },
      { __typename: 'Product', id: '2', sizes },
    ]);
  });
});
