import { parse } from 'graphql';
import { createFederatedExecutor, type AskSubgraph, type SubgraphAnswer } from '../src/index.ts';
import { cpuMs } from './cpu-ms.ts';
import { runBothWays } from './compare-with-graphql-js.ts';
import { createWorld, type Call, type Source } from './world.ts';

const SUBGRAPHS = [
  {
    name: 'shop',
    sdl: `
      type Query { orders: [Order] offers: [Product] }
      type Mutation { buy: Order sell: Order }
      type Order @key(fields: "id") { id: ID! buyer: User seller: User items: [Product] }
      type User @key(fields: "id") { id: ID! }
      type Product @key(fields: "id") { id: ID! weight: Int }
    `,
  },
  {
    name: 'people',
    sdl: `
      type Query { me: User }
      type User @key(fields: "id") { id: ID! name(long: Boolean): String mood: String! home: Home friend: User favourite: Product }
      type Home { street: String size: Int! }
      type Product @key(fields: "id") { id: ID! maker: User }
    `,
  },
  {
    name: 'stock',
    sdl: `
      type Product @key(fields: "id") {
        id: ID! weight: Int @external inStock: Boolean freight: Int @requires(fields: "weight") bids(of: String): Int
      }
    `,
  },
];

const user = (id: string) => ({ __typename: 'User', id });
const product = (id: string) => ({ __typename: 'Product', id });

function fixed(type: string, field: string, source: Source): unknown {
  switch (`${type}.${field}`) {
    case 'Query.orders':
      return ['1', '2'].map((id) => ({ __typename: 'Order', id }));
    case 'Query.offers':
    case 'Order.items':
      return [product('1'), product('2')];
    case 'Mutation.buy':
    case 'Mutation.sell':
      return { __typename: 'Order', id: '1' };
    case 'Order.buyer':
    case 'User.friend':
      return user('1');
    case 'Order.seller':
      return user(String(source.id));
    case 'Product.maker':
    case 'Query.me':
      return user('2');
    case 'User.favourite':
      return product('1');
    case 'User.home':
      return { __typename: 'Home', id: `home of ${String(source.id)}` };
    case 'Home.size':
      return source.id === 'home of 2' ? new Error('not measured') : 3;
    case 'User.mood':
      return source.id === '2' ? new Error('no mood') : 'fine';
    default:
      return undefined;
  }
}

const world = createWorld(SUBGRAPHS, { seed: 3, fixed });

/** Runs an operation, compares it with graphql-js, and returns the services of its requests, in order. */
async function servicesOf(source: string, variables: Record<string, unknown> = {}) {
  const both = await runBothWays(world, source, variables);
  expect(both.ours).toEqual(both.theirs);
  return { services: both.calls.map(({ service }) => service), calls: both.calls, errors: both.errors };
}

const ids = ({ variables }: Call, name = 'representations') => (variables[name] as Source[]).map(({ id }) => id);

describe('fetches from one service in the same step', () => {
  it('are one request that lists each object once', async () => {
    const { services, calls } = await servicesOf('{ orders { buyer { name } seller { name } } }');
    expect(services).toEqual(['shop', 'people']);
    expect(calls.map(({ variables }) => Object.keys(variables))).toEqual([[], ['representations']]);
    expect(ids(calls[1] as Call)).toEqual(['1', '2']);
  });

  it('are one request even for different fields', async () => {
    const { services, calls } = await servicesOf(
      '{ orders { buyer { name } seller { home { street } } items { maker { id } } } }',
    );
    expect(services).toEqual(['shop', 'people']);
    const [, joined] = calls;
    expect(joined?.text.match(/_entities/g)?.length).toBeGreaterThan(2);
    expect(ids(joined as Call, 'representations_1')).toEqual(['1', '2']);
  });

  it('work with client variables of any name', async () => {
    const source = `query ($representations_1: Boolean, $representations: Boolean) {
      orders { buyer { name(long: $representations_1) } seller { name(long: $representations) home { street } } }
    }`;
    const { services } = await servicesOf(source, { representations_1: true, representations: false });
    expect(services).toEqual(['shop', 'people']);
  });

  it('do not request missing objects', async () => {
    const empty = createWorld(SUBGRAPHS, {
      seed: 3,
      fixed: (type, field, source) => (field === 'seller' ? null : field === 'items' ? [] : fixed(type, field, source)),
    });
    const both = await runBothWays(
      empty,
      '{ orders { buyer { name } seller { home { street } } items { maker { id } } } }',
    );
    expect(both.ours).toEqual(both.theirs);
    const [, joined] = both.calls;
    expect([ids(joined as Call), ids(joined as Call, 'representations_1')]).toEqual([['1'], []]);
    expect(await runBothWays(empty, '{ orders { seller { home { street } } items { maker { id } } } }')).toMatchObject({
      calls: [{ service: 'shop' }],
    });
  });

  it('stay separate in mutations', async () => {
    const { services } = await servicesOf(
      'mutation { buy { buyer { name } seller { name } } sell { buyer { name } } }',
    );
    expect(services).toEqual(['shop', 'people', 'shop', 'people']);
  });
});

describe('an error in a request of several fetches', () => {
  it('is reported at its path, for each of the fetches', async () => {
    const { services, errors } = await servicesOf('{ orders { buyer { mood } seller { home { size } } } me { mood } }');
    expect(services).toEqual(expect.arrayContaining(['shop', 'people']));
    expect(errors?.map(({ path }) => path?.join('.')).toSorted()).toEqual(['me.mood', 'orders.1.seller.home.size']);
  });

  it('is reported at all paths of an object', async () => {
    const { errors } = await servicesOf(
      '{ orders { one: seller { home { size } } two: seller { home { size street } } } }',
    );
    expect(errors?.map(({ path }) => path?.join('.')).toSorted()).toEqual([
      'orders.1.one.home.size',
      'orders.1.two.home.size',
    ]);
  });

  it('is not reported where the field was not selected', async () => {
    const source =
      '{ orders { buyer { home { street } } seller { home { street size } friend { home { street } } } } }';
    const { errors } = await servicesOf(source);
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['orders.1.seller.home.size']);
  });
});

describe('a request of several fetches in which one fails as a whole', () => {
  const SOURCE = '{ orders { buyer { name } seller { home { street } } } }';

  /** A service that omits all data when one list fails. */
  const failing = (fails: (text: string) => boolean, error: object) => {
    const asked: string[] = [];
    const ask: AskSubgraph<Call[]> = async (request, calls) => {
      const { text } = request.operation;
      if (request.operation.service === 'people') asked.push(text);
      const isHere = request.operation.service === 'people' && fails(text);
      return isHere ? { data: null, errors: [error] } : world.ask(request, calls);
    };
    const run = () =>
      createFederatedExecutor(world.graph, ask).compile(parse(SOURCE)).run({ variables: {}, context: [] });
    return { asked, run };
  };

  it('is repeated with each fetch on its own', async () => {
    const { asked, run } = failing((text) => text.includes('home'), { message: 'no', path: ['_entities_1'] });
    const { data, errors } = await run();
    expect(asked).toHaveLength(3);
    const paths = [0, 1].map((index) => ['orders', index, 'seller', 'home']);
    expect(errors).toEqual(paths.map((path) => ({ message: 'no', service: 'people', path })));
    const text = JSON.stringify(data);
    expect(text).toContain('"name":"');
    expect(text).toContain('"home":null');
  });

  it('is not repeated when the error concerns no single fetch', async () => {
    const { asked, run } = failing(() => true, { message: 'busy' });
    const { errors } = await run();
    expect(asked).toHaveLength(1);
    const paths = [0, 1].flatMap((index) => [
      ['orders', index, 'buyer', 'name'],
      ['orders', index, 'seller', 'home'],
    ]);
    expect(errors).toEqual(paths.map((path) => ({ message: 'busy', service: 'people', path })));
  });
});

describe('an invalid response of a service', () => {
  const run = (source: string, change: (answer: SubgraphAnswer, text: string) => SubgraphAnswer) => {
    const ask: AskSubgraph<Call[]> = async (request, calls) => {
      const answer = await world.ask(request, calls);
      return request.operation.service === 'people' ? change(answer, request.operation.text) : answer;
    };
    return createFederatedExecutor(world.graph, ask).compile(parse(source)).run({ variables: {}, context: [] });
  };
  const SOURCE = '{ orders { buyer { name } seller { home { street } } } }';

  it.each([
    ['_entities', false],
    ['_entities_1', false],
    ['_entities', true],
    ['_entities_1', true],
  ])('reports too few entities for %s beside other errors (of the same fetch: %s)', async (short, isOwn) => {
    const own = isOwn ? [{ message: 'no', path: [short, 0, 'name'] }] : [];
    const other = short === '_entities' ? '_entities_1' : '_entities';
    const { errors } = await run(SOURCE, ({ data }) => ({
      data: { ...data, [short]: [] },
      errors: [{ message: 'no', path: [other, 0, 'name'] }, ...own],
    }));
    expect(errors?.map(({ message }) => message)).toContain(
      'The service "people" did not return all requested objects.',
    );
  });

  it('reports an error about an object that was not requested, without a path', async () => {
    const { errors } = await run(SOURCE, ({ data }) => ({
      data,
      errors: [{ message: 'no', path: ['_entities', 99, 'name'] }],
    }));
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
  const operation = createFederatedExecutor(many.graph, failing).compile(parse('{ orders { seller { name } } }'));
  const begun = cpuMs();
  const { errors } = await operation.run({ variables: {}, context: [] });
  expect(cpuMs() - begun).toBeLessThan(5_000);
  expect(errors).toHaveLength(10_000);
  expect(errors?.at(-1)?.path).toEqual(['orders', 9_999, 'seller', 'name']);
});

it('compiles a plan of many fetches in less than quadratic time', async () => {
  const orders = '{ buyer { name } seller { home { street } } items { maker { mood } inStock } }';
  const source = `{ ${Array.from({ length: 200 }, (_, index) => `of${index}: orders ${orders}`).join(' ')} }`;
  const executor = createFederatedExecutor(world.graph, world.ask);
  const begun = cpuMs();
  executor.compile(parse(source));
  expect(cpuMs() - begun).toBeLessThan(2_000);
});
