import { runBothWays } from './compare-with-graphql-js.ts';
import { createWorld, type Source, type Subgraph } from './world.ts';

/** Cases that query planners and their executors have been seen to get wrong. */
const SUBGRAPHS: Subgraph[] = [
  {
    name: 'accounts',
    sdl: `
      type Query { me: Account users: [Account] people: [User] found: [Found] nodes: [[Node]] }
      interface Account { id: ID! }
      interface Node { id: ID! }
      type User implements Account & Node @key(fields: "id") { id: ID! name: String b: Box }
      type Admin implements Account & Node @key(fields: "id") { id: ID! isMain: Boolean! }
      type Box { a: Box word: String }
      union Found = User | Lamp
      type Lamp @key(fields: "id") { id: ID! size: Int! }
    `,
  },
  {
    name: 'reviews',
    sdl: `
      interface Node { id: ID! }
      type Query { reviews: [Node] }
      type Review implements Node { id: ID! product: Product stars: Int }
      type User @key(fields: "id") { id: ID! reviews: [Review] rank: Int }
      type Lamp @key(fields: "id") { id: ID! rating: Int }
      type Product @key(fields: "id") { id: ID! }
    `,
  },
  {
    name: 'numbers',
    sdl: `
      type Query { number: Int }
      type Mutation { add(num: Int): Int must(num: Int): Int! user: User }
      type User @key(fields: "id") { id: ID! mood: String }
    `,
  },
  {
    name: 'sums',
    sdl: `
      type Query { sum: Int }
      type Mutation { multiply(num: Int): Int }
    `,
  },
  {
    name: 'shop',
    sdl: `
      type Query { products: [Product] grid: [[[Product]]] }
      type Product @key(fields: "id") { id: ID! price(currency: String): String sizes: [Size] }
      type Size @shareable { value: Int other: Int }
    `,
  },
  {
    name: 'shipping',
    sdl: `
      type Query { dimension: Int }
      type Product @key(fields: "id") {
        id: ID!
        price(currency: String): String @external
        shippingEstimate: String @requires(fields: "price(currency: \\"USD\\")")
        shippingEstimateEuro: String @requires(fields: "price(currency: \\"EUR\\")")
        sizes: [Size] @external
        crates: String @requires(fields: "sizes { value }")
        weight: String
        volume(unit: String): String
      }
      type Size @shareable { value: Int other: Int }
    `,
  },
  {
    name: 'results',
    sdl: `
      type Query { results: [Result] }
      interface Solo @key(fields: "id") { id: ID! }
      type Only implements Solo @key(fields: "id") { id: ID! word: String }
      interface Result @key(fields: "id") { id: ID! title: String }
      type Hit implements Result @key(fields: "id") { id: ID! title: String hits: Int }
      type Miss implements Result @key(fields: "id") { id: ID! title: String }
    `,
  },
  {
    name: 'ranks',
    sdl: `
      type Query { items: [Item] solo: Solo }
      type Solo @key(fields: "id") @interfaceObject { id: ID! next: Solo }
      type Item @key(fields: "id") { id: ID! best: Result }
      type Result @key(fields: "id") @interfaceObject { id: ID! rank: Int }
    `,
  },
  {
    name: 'halls',
    sdl: `
      type Query { seats: [[Seat]] }
      type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! price: String }
      type Row @shareable { hall: Hall! number: Int! }
      type Hall @key(fields: "name") { name: String! }
    `,
  },
  {
    name: 'guests',
    sdl: `
      type Query { guest: Guest }
      type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! guest: Guest }
      type Row @shareable { hall: Hall! number: Int! }
      type Hall @key(fields: "name") { name: String! owner: String }
      type Guest @key(fields: "seat { side row { number hall { name } } }") { seat: Seat! }
    `,
  },
  {
    name: 'names',
    sdl: `
      type Guest @key(fields: "seat { side row { number hall { name } } }") { seat: Seat! nick: String! }
      type Seat { side: String! @shareable row: Row! @shareable }
      type Row @shareable { number: Int! hall: Hall! }
      type Hall @key(fields: "name") { name: String! }
    `,
  },
];

function seat(hall: string, number: number, side: string) {
  return { __typename: 'Seat', side, row: { __typename: 'Row', number, hall: { __typename: 'Hall', name: hall } } };
}

function nameOfSeat({ side, row: { number, hall } }: ReturnType<typeof seat>): string {
  return `${hall.name} ${number} ${side}`;
}

function fixed(type: string, field: string, source: Source, args: Record<string, unknown>): unknown {
  const entity = (typename: string, id: string) => ({ __typename: typename, id });
  switch (`${type}.${field}`) {
    case 'Query.me':
      return entity('User', '1');
    case 'Query.users':
      return [entity('User', '1'), entity('Admin', '2')];
    case 'Query.people':
      return [entity('User', '1'), entity('User', '2'), entity('User', '1')];
    case 'Query.found':
      return [entity('Lamp', '1'), entity('User', '1')];
    case 'Query.nodes':
      return [[entity('User', '1'), null], [entity('User', '2'), entity('Admin', '3')], null];
    case 'Query.reviews':
    case 'User.reviews':
      return [entity('Review', `r${String(source.id ?? 0)}`)];
    case 'Review.product':
      return entity('Product', '1');
    case 'User.rank':
      return source.id === '2' ? new Error('no rank') : 3;
    case 'Admin.isMain':
      return null;
    case 'User.b':
    case 'Box.a':
      return { __typename: 'Box' };
    case 'Query.products':
      return [entity('Product', '1'), entity('Product', '2')];
    case 'Query.grid':
      return [[[entity('Product', '1')], null, [entity('Product', '2'), entity('Product', '1')]], []];
    case 'Product.price':
      return `${String(args.currency)} ${String(source.id)}`;
    case 'Product.weight':
      return source.id === '2' ? new Error('not weighed') : 'light';
    case 'Product.sizes':
      return [{ __typename: 'Size' }, null];
    case 'Product.crates':
      return 'two';
    case 'Size.value':
      return 1;
    case 'Product.shippingEstimate':
      return `of ${String(source.price ?? `USD ${String(source.id)}`)}`;
    case 'Product.shippingEstimateEuro':
      return `of ${String(source.price ?? `EUR ${String(source.id)}`)}`;
    case 'Query.results':
      return [entity('Hit', '1'), entity('Miss', '2')];
    case 'Hit.rank':
    case 'Miss.rank':
    case 'Result.rank':
      return 7 + Number(source.id);
    case 'Query.solo':
    case 'Solo.next':
    case 'Only.next':
      return entity('Only', 'o');
    case 'Query.items':
      return [entity('Item', '1')];
    case 'Item.best':
      return entity('Hit', '1');
    case 'Mutation.must':
      return args.num === 0 ? new Error('must') : 1;
    case 'Mutation.user':
      return entity('User', '1');
    case 'Query.seats':
      return [[seat('A', 1, 'left'), null, seat('A', 1, 'right')], [seat('B', 1, 'left'), seat('A', 1, 'left')], null];
    case 'Seat.price':
      return nameOfSeat(source as ReturnType<typeof seat>);
    case 'Query.guest':
      return { __typename: 'Guest', seat: seat('B', 2, 'right') };
    case 'Seat.guest':
      return source.side === 'right' ? null : { __typename: 'Guest', seat: source };
    case 'Guest.nick':
      return nameOfSeat(source.seat as ReturnType<typeof seat>);
    case 'Hall.owner':
      return source.name === 'B' ? null : `owner of ${String(source.name)}`;
    default:
      return source[field];
  }
}

const world = createWorld(SUBGRAPHS, {
  seed: 1,
  fixed,
  typeOf: ({ id }) => (id === 'o' ? 'Only' : id === '1' ? 'Hit' : 'Miss'),
});

/** Also checks that graphql-js agrees. */
const same = async (source: string, variables: Record<string, unknown> = {}) => {
  const both = await runBothWays(world, source, variables);
  expect(both.ours).toEqual(both.theirs);
  return both;
};

describe('operations that are easily answered wrong', () => {
  it.each([
    '{ me { ... on User { name } id ... on User { __typename } } }',
    '{ __schema { queryType { name __typename } } me { id } }',
    '{ people { rank reviews { stars } name b { word } id } }',
  ])('have their keys in the order of the operation: %s', async (source) => {
    await same(source);
  });

  it.each([
    '{ people { id: name reviews { __typename } } }',
    '{ people { __typename id: rank name: id rank: name } }',
    '{ people { id: __typename reviews { stars } } }',
    '{ found { ... on Lamp { rating size: rating } ... on User { size: rank } } }',
  ])('may give a field the name of a key: %s', async (source) => {
    await same(source);
  });

  it.each([
    '{ found { ... on Lamp { rating __typename } } }',
    '{ reviews { ... on Node { ... on Review { product { __typename } } } } }',
    '{ nodes { ... on Account { ... on User { b { __typename } } } } }',
  ])('lose nothing in fragments: %s', async (source) => {
    const { ours } = await same(source);
    expect(ours.data).toContain('"__typename"');
  });

  it('run changes in their order, wherever they are written', async () => {
    const { ours } = await same(
      'mutation { add(num: 2) ...F1 } fragment F1 on Mutation { add_1: add(num: 5) __typename multiply again: add }',
    );
    expect(ours.changes).toHaveLength(4);
  });

  it.each(['mutation { add multiply add @skip(if: false) }', 'mutation { add ... { multiply add } }'])(
    'run a change once however often it is selected: %s',
    async (source) => {
      expect((await same(source)).ours.changes).toEqual(['add {}', 'multiply {}']);
    },
  );

  it('run no change behind one that must not fail and has', async () => {
    const { ours } = await same('mutation { user { id mood } must(num: 0) add }');
    expect(ours).toMatchObject({ data: 'null', changes: ['user {}', 'must {"num":0}'] });
  });

  it('end all of a change before the next one begins', async () => {
    const { calls } = await same('mutation { user { name } add }');
    expect(calls.map(({ service }) => service)).toEqual(['numbers', 'accounts', 'numbers']);
  });

  it.each([true, false])('give an empty object where all is skipped: %s', async (t) => {
    await same(
      'query ($t: Boolean!) { me @include(if: $t) { ... on User { b { a @skip(if: $t) { __typename } } } } }',
      { t },
    );
    await same('query ($t: Boolean!) { me { id @skip(if: $t) } people @skip(if: $t) { id } }', { t });
  });

  it('let a null go up to where one may be', async () => {
    const { ours, errors } = await same('{ users { id ... on Admin { isMain } } }');
    expect(ours).toMatchObject({ data: '{"users":[{"id":"1"},null]}' });
    expect(errors).toHaveLength(1);
  });

  it.each([
    '{ items { best { ... on Hit { __typename } } } }',
    '{ items { best { ... on Hit { hits rank } ... on Miss { __typename } title } } }',
    '{ results { rank ... on Hit { rank hits } } }',
    '{ items { best { rank id } } }',
    '{ solo { ... on Only { next { id } } } }',
    '{ solo { next { ... on Only { word next { id } } } } }',
  ])('know what an interface object is: %s', async (source) => {
    await same(source);
  });

  it.each([
    '{ products { price(currency: "x") shippingEstimate } }',
    '{ products { price shippingEstimate other: price(currency: "USD") } }',
    'query ($c: String = "y") { products { shippingEstimate price(currency: $c) } }',
  ])('may ask with other arguments for what a service requires: %s', async (source) => {
    await same(source);
  });

  it.each([
    '{ products { shippingEstimate shippingEstimateEuro } }',
    '{ products { shippingEstimateEuro } grid { euro: shippingEstimateEuro dollars: shippingEstimate weight } }',
    'query ($c: String = "EUR") { products { shippingEstimate price(currency: $c) shippingEstimateEuro } }',
    'query ($u: String = "l") { products { shippingEstimate volume(unit: $u) shippingEstimateEuro } }',
  ])('may need one field with several arguments at one service: %s', async (source) => {
    await same(source);
  });

  it.each([
    '{ seats { guest { nick seat { price row { hall { owner } } } } } }',
    '{ guest { nick seat { price row { number hall { owner } } } } seats { price } }',
  ])('find objects by keys within objects: %s', async (source) => {
    const { calls } = await same(source);
    expect(new Set(calls.map(({ service }) => service))).toEqual(new Set(['halls', 'guests', 'names']));
  });

  it('report where in nested lists something failed, in each place', async () => {
    const { errors } = await same('{ matrix: grid { heavy: weight id } }');
    expect(errors?.map(({ path }) => path)).toEqual([['matrix', 0, 2, 0, 'heavy']]);
    const again = await same('{ people { place: rank } all: people { id rank again: rank } }');
    expect(again.ours.nulls).toEqual(['all.1.again', 'all.1.rank', 'people.1.place']);
  });
});

describe('what services are asked', () => {
  it('names each object once', async () => {
    const { calls } = await same('{ people { rank name } }');
    expect(calls.map(({ service, variables }) => [service, variables.representations])).toEqual([
      ['accounts', undefined],
      [
        'reviews',
        [
          { __typename: 'User', id: '1' },
          { __typename: 'User', id: '2' },
        ],
      ],
    ]);
  });

  it('names of an object what is required, in lists as well, and no more', async () => {
    const { calls } = await same('{ products { sizes { value other } crates } }');
    const sizes = [{ value: 1 }, null];
    expect(calls.at(-1)?.variables['representations']).toEqual([
      { __typename: 'Product', id: '1', sizes },
      { __typename: 'Product', id: '2', sizes },
    ]);
  });

  it('asks no one where there is nothing to ask', async () => {
    expect((await same('{ __typename t: __schema { queryType { name } } }')).calls).toEqual([]);
    expect((await same('{ nodes { ... on Admin { id } ... on User { rank } } }')).calls).toHaveLength(2);
  });

  it('takes a variable of the client by any name', async () => {
    const source = 'query ($representations: String) { products { weight price(currency: $representations) } }';
    await same(source, { representations: 'z' });
  });
});
