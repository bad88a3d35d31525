import { parse } from 'graphql';
import type { AskSubgraph, SubgraphAnswer } from '../src/index.ts';
import { cpuMs } from './cpu-ms.ts';
import { runLikeGraphqlJs } from './compare-with-graphql-js.ts';
import { createWorld, runOn, type Call, type Source } from './world.ts';

const SUBGRAPHS = {
  shop: `
    type Query { orders: [Order] offers: [Product] }
    type Mutation { buy: Order sell: Order }
    type Order @key(fields: "id") { id: ID! buyer: User seller: User items: [Product] }
    type User @key(fields: "id") { id: ID! }
    type Product @key(fields: "id") { id: ID! weight: Int }
  `,
  people: `
    type Query { me: User }
    type User @key(fields: "id") { id: ID! name(long: Boolean): String mood: String! home: Home friend: User favourite: Product }
    type Home { street: String size: Int! }
    type Product @key(fields: "id") { id: ID! maker: User }
  `,
  stock: `
    type Product @key(fields: "id") {
      id: ID! weight: Int @external inStock: Boolean freight: Int @requires(fields: "weight") bids(of: String): Int
    }
  `,
};

const user = (id: string) => ({ __typename: 'User', id });
const product = (id: string) => ({ __typename: 'Product', id });

const VALUES: Record<string, (source: Source) => unknown> = {
  'Query.orders': () => ['1', '2'].map((id) => ({ __typename: 'Order', id })),
  'Query.offers': () => [product('1'), product('2')],
  'Order.items': () => [product('1'), product('2')],
  'Mutation.buy': () => ({ __typename: 'Order', id: '1' }),
  'Mutation.sell': () => ({ __typename: 'Order', id: '1' }),
  'Order.buyer': () => user('1'),
  'User.friend': () => user('1'),
  'Order.seller': ({ id }) => user(String(id)),
  'Product.maker': () => user('2'),
  'Query.me': () => user('2'),
  'User.favourite': () => product('1'),
  'User.home': ({ id }) => ({ __typename: 'Home', id: `home of ${String(id)}` }),
  'Home.size': ({ id }) => (id === 'home of 2' ? new Error('not measured') : 3),
  'User.mood': ({ id }) => (id === '2' ? new Error('no mood') : 'fine'),
};
const fixed = (type: string, field: string, source: Source) => VALUES[`${type}.${field}`]?.(source);

const world = createWorld(SUBGRAPHS, { seed: 3, fixed });

const services = (calls: Call[]) => calls.map(({ service }) => service);
const ids = ({ variables }: Call, name = 'representations') => (variables[name] as Source[]).map(({ id }) => id);

describe('fetches from one service in the same step', () => {
  it.each<[string, string, Record<string, unknown>, lists: Record<string, string[]>]>([
    ['lists each object once', '{ orders { buyer { name } seller { name } } }', {}, { representations: ['1', '2'] }],
    [
      'asks for different fields',
      '{ orders { buyer { name } seller { home { street } } items { maker { id } } } }',
      {},
      { representations: ['1'], representations_1: ['1', '2'], representations_2: ['1', '2'] },
    ],
    [
      'has client variables of any name',
      `query ($representations_1: Boolean, $representations: Boolean) {
        orders { buyer { name(long: $representations_1) } seller { name(long: $representations) home { street } } }
      }`,
      { representations_1: true, representations: false },
      {},
    ],
  ])('are one request that %s', async (_what, source, variables, lists) => {
    const { calls } = await runLikeGraphqlJs(world, source, variables);
    expect(services(calls)).toEqual(['shop', 'people']);
    for (const [name, listed] of Object.entries(lists)) expect(ids(calls[1] as Call, name)).toEqual(listed);
  });

  it('do not request missing objects', async () => {
    const empty = createWorld(SUBGRAPHS, {
      seed: 3,
      fixed: (type, field, source) => (field === 'seller' ? null : field === 'items' ? [] : fixed(type, field, source)),
    });
    const missing = 'seller { home { street } } items { maker { id } }';
    const { calls } = await runLikeGraphqlJs(empty, `{ orders { buyer { name } ${missing} } }`);
    expect([ids(calls[1] as Call), ids(calls[1] as Call, 'representations_1')]).toEqual([['1'], []]);
    expect(services((await runLikeGraphqlJs(empty, `{ orders { ${missing} } }`)).calls)).toEqual(['shop']);
  });

  it('stay separate in mutations', async () => {
    const mutations = 'mutation { buy { buyer { name } seller { name } } sell { buyer { name } } }';
    const { calls } = await runLikeGraphqlJs(world, mutations);
    expect(services(calls)).toEqual(['shop', 'people', 'shop', 'people']);
  });
});

it.each([
  [
    'at its path, for each of the fetches',
    '{ orders { buyer { mood } seller { home { size } } } me { mood } }',
    ['me.mood', 'orders.1.seller.home.size'],
  ],
  [
    'at all paths of an object',
    '{ orders { one: seller { home { size } } two: seller { home { size street } } } }',
    ['orders.1.one.home.size', 'orders.1.two.home.size'],
  ],
  [
    'only where the field was selected',
    '{ orders { buyer { home { street } } seller { home { street size } friend { home { street } } } } }',
    ['orders.1.seller.home.size'],
  ],
])('an error in a request of several fetches is reported %s', async (_where, source, paths) => {
  const { errors } = await runLikeGraphqlJs(world, source);
  expect(errors.map(({ path }) => path?.join('.')).toSorted()).toEqual(paths);
});

const SOURCE = '{ orders { buyer { name } seller { home { street } } } }';
/** The result when the service of people changes its answers in this way, and how often it is asked. */
async function withPeople(change: (answer: SubgraphAnswer, text: string) => SubgraphAnswer) {
  let asked = 0;
  const ask: AskSubgraph<Call[]> = async (request, calls) => {
    const answer = await world.ask(request, calls);
    if (request.operation.service !== 'people') return answer;
    asked++;
    return change(answer, request.operation.text);
  };
  return { ...(await runOn(world.graph, SOURCE, ask)), asked };
}

describe('a request of several fetches in which one fails as a whole', () => {
  it('is repeated with each fetch on its own', async () => {
    const { data, errors, asked } = await withPeople((answer, text) =>
      text.includes('home') ? { data: null, errors: [{ message: 'no', path: ['_entities_1'] }] } : answer,
    );
    expect(asked).toBe(3);
    const paths = [0, 1].map((index) => ['orders', index, 'seller', 'home']);
    expect(errors).toEqual(paths.map((path) => ({ message: 'no', service: 'people', path })));
    const text = JSON.stringify(data);
    expect(text).toContain('"name":"');
    expect(text).toContain('"home":null');
  });

  it('is not repeated when the error concerns no single fetch', async () => {
    const { errors, asked } = await withPeople(() => ({ data: null, errors: [{ message: 'busy' }] }));
    expect(asked).toBe(1);
    const paths = [0, 1].flatMap((index) => [
      ['orders', index, 'buyer', 'name'],
      ['orders', index, 'seller', 'home'],
    ]);
    expect(errors).toEqual(paths.map((path) => ({ message: 'busy', service: 'people', path })));
  });
});

describe('an invalid response of a service', () => {
  const no = (...path: (string | number)[]) => ({ message: 'no', path });

  it.each(['_entities', '_entities_1'])('reports too few entities for %s beside other errors', async (short) => {
    const other = short === '_entities' ? '_entities_1' : '_entities';
    for (const own of [[], [no(short, 0, 'name')]]) {
      const errors = [no(other, 0, 'name'), ...own];
      const result = await withPeople(({ data }) => ({ data: { ...data, [short]: [] }, errors }));
      const message = 'The service "people" did not return all requested objects.';
      expect(result.errors).toContainEqual(expect.objectContaining({ message }));
    }
  });

  it('reports an error about an object that was not requested, without a path', async () => {
    const { errors } = await withPeople(({ data }) => ({ data, errors: [no('_entities', 99, 'name')] }));
    expect(errors).toEqual([{ message: 'no', service: 'people' }]);
  });
});

it('reports an error for each of many objects at its path, in linear time', async () => {
  const many = createWorld(SUBGRAPHS, {
    seed: 3,
    fixed: (type, field, source) =>
      `${type}.${field}` === 'Query.orders'
        ? Array.from({ length: 10_000 }, (_, index) => ({ __typename: 'Order', id: String(index) }))
        : fixed(type, field, source),
  });
  const failing: AskSubgraph<Call[]> = async (request, calls) => {
    if (request.operation.service !== 'people') return many.ask(request, calls);
    const entities = request.variables['representations'] as object[];
    return {
      data: { _entities: entities.map(() => ({ name: null })) },
      errors: entities.map((_entity, index) => ({ message: 'no', path: ['_entities', index, 'name'] })),
    };
  };
  const begun = cpuMs();
  const { errors } = await runOn(many.graph, '{ orders { seller { name } } }', failing);
  expect(cpuMs() - begun).toBeLessThan(5_000);
  expect(errors).toHaveLength(10_000);
  expect(errors?.at(-1)?.path).toEqual(['orders', 9_999, 'seller', 'name']);
});

it('compiles a plan of many fetches in less than quadratic time', async () => {
  const orders = '{ buyer { name } seller { home { street } } items { maker { mood } inStock } }';
  const source = `{ ${Array.from({ length: 200 }, (_, index) => `of${index}: orders ${orders}`).join(' ')} }`;
  const begun = cpuMs();
  world.executor.compile(parse(source));
  expect(cpuMs() - begun).toBeLessThan(2_000);
});
