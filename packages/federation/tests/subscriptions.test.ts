import { jest } from '@jest/globals';
import { QueryPlanner } from '@apollo/query-planner';
import { parse, type ExecutionResult } from 'graphql';
import { once } from 'node:events';
import { compiledSubscriptions, compileEvents, readSupergraph, type SubgraphAnswer } from '../src/index.ts';
import { responseOf, REVIEWED, reviewedEvent, supergraph } from './products-and-reviews.ts';
import { createWorld, graphOf } from './world.ts';

const flags = ['a', 'b', 'c', 'd', 'e'];
const conditional = `subscription (${flags.map((flag) => `$${flag}: Boolean!`)}) {
  reviewed(first: 1) { product { id ${flags.map((flag) => `${flag}: name @include(if: $${flag})`)} } } }`;
const combinations = Array.from({ length: 32 }, (_, index) =>
  Object.fromEntries(flags.map((flag, bit) => [flag, (index >> bit) % 2 === 1])),
);
/** What that selects of a product with a combination. */
const shown = (index: number, id: number) => ({
  id: String(id),
  ...Object.fromEntries(flags.filter((flag) => combinations[index]?.[flag]).map((flag) => [flag, `Product ${id}`])),
});

describe('a subscription across several services', () => {
  const asked: { service: string; text: string; variables: unknown; user: unknown }[] = [];
  let ended = 0;
  /** The events that the service sends. */
  let events: (signal: AbortSignal) => AsyncGenerator<SubgraphAnswer>;
  const subscribe = compiledSubscriptions<{ user: string }>({
    supergraph,
    ask: ({ operation: { service, text }, variables }) => responseOf(service, text, variables),
    async *subscribe({ operation: { service, text }, variables }, { user }, signal) {
      asked.push({ service, text, variables, user });
      try {
        yield* events(signal);
      } finally {
        ended++;
      }
    },
  });
  const review = (id: number) => ({
    data: { reviewed: { words: `words ${id}`, product: { __typename: 'Product', id: String(id), stars: id % 5 } } },
  });
  const open = async (query: string, variableValues = {}) =>
    subscribe({ document: parse(query), variableValues, contextValue: { user: 'ada' } });
  const collect = async (query: string, variableValues = {}) => {
    const results: ExecutionResult[] = [];
    const opened = await open(query, variableValues);
    if (!(Symbol.asyncIterator in opened)) return [opened];
    for await (const result of opened) results.push(JSON.parse(JSON.stringify(result)) as ExecutionResult);
    return results;
  };
  beforeEach(() => {
    asked.length = 0;
    ended = 0;
    events = async function* () {
      for (const id of [1, 2, 3]) yield review(id);
    };
  });

  it('subscribes once at one service and fetches missing fields of each event from others', async () => {
    expect(await collect(REVIEWED, { n: 3 })).toEqual([1, 2, 3].map(reviewedEvent));
    expect(asked).toEqual([
      { service: 'reviews', text: expect.stringMatching(/^subscription/), variables: { n: 3 }, user: 'ada' },
    ]);
    expect(ended).toBe(1);
  });

  it('is planned once, however many combinations of conditions other streams have', async () => {
    const planned = jest.spyOn(QueryPlanner.prototype, 'buildQueryPlan');
    const [document, contextValue] = [parse(conditional), { user: 'ada' }];
    const opened = combinations.map((variableValues) => subscribe({ document, variableValues, contextValue }));
    const streams = (await Promise.all(opened)) as AsyncGenerator<ExecutionResult>[];
    for (const id of [1, 2])
      for (const [at, stream] of streams.entries())
        expect((await stream.next()).value).toMatchObject({ data: { reviewed: { product: shown(at, id) } } });
    expect(planned).toHaveBeenCalledTimes(combinations.length);
    planned.mockRestore();
    for (const stream of streams) await stream.return(undefined);
  });

  it('ends at once when the root field is skipped, because no event would ever come', async () => {
    expect(await collect('subscription { reviewed @skip(if: true) { words } }')).toEqual([]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['ends', () => undefined],
    ['fails', (signal: AbortSignal) => signal.throwIfAborted()],
  ])(
    'ends the subscription at the service when the client unsubscribes between events (its stream %s)',
    async (_how, end) => {
      events = async function* (signal) {
        yield review(1);
        await once(signal, 'abort');
        end(signal);
      };
      const opened = await open(REVIEWED, { n: 3 });
      if (!(Symbol.asyncIterator in opened)) throw new Error('refused');
      expect(await opened.next()).toMatchObject({ done: false });
      const next = opened.next();
      await opened.return();
      expect(ended).toBe(1);
      expect(await next).toEqual({ done: true, value: undefined });
      expect(await opened.next()).toEqual({ done: true, value: undefined });
    },
  );

  it('reports errors of an event at their paths and continues', async () => {
    events = async function* () {
      yield { data: null, errors: [{ message: 'no words today', path: ['reviewed', 'words'] }] };
      yield review(2);
    };
    const [first, second] = await collect(REVIEWED, { n: 2 });
    expect(first).toMatchObject({ data: null, errors: [{ message: 'no words today' }] });
    expect(second).toEqual(reviewedEvent(2));
  });

  it('ends with an error when the service cannot be subscribed to', async () => {
    events = async function* () {
      throw new Error('connection refused');
    };
    expect(await collect(REVIEWED, { n: 2 })).toMatchObject([
      { data: null, errors: [{ extensions: { serviceName: 'reviews' } }] },
    ]);
    expect(ended).toBe(1);
  });

  it.each([
    ['variables of the wrong type', REVIEWED, { n: 'three' }],
    ['a query', '{ product(id: 1) { name } }', {}],
  ])('rejects %s without calling a service', async (_what, query, variables) => {
    expect(await collect(query, variables)).toMatchObject([{ errors: [{ message: expect.any(String) }] }]);
    expect(asked).toEqual([]);
  });
});

describe('events that do not come from a service', () => {
  const graph = readSupergraph(supergraph);
  const sdl = `type Query { orders: Int } type Subscription { ordered(representations: String): Order! }
    type Order { lines: [[Line!]!]! } type Line { count: Int! item: Item! }
    type Item @key(fields: "code shop") { code: ID! shop: ID! price(in: String!): Int! }`;
  const orders = graphOf({ orders: sdl });
  const contents = {
    fields: {
      Subscription: new Set(['reviewed', 'ordered']),
      Review: new Set(['words', 'product']),
      Product: new Set(['id']),
      Order: new Set(['lines']),
      Line: new Set(['count', 'item']),
      Item: new Set(['code', 'shop']),
    },
    keys: { Product: ['id'], Item: ['code', 'shop'] },
  };
  const asked: { service: string; text: string; variables: Record<string, unknown>; context: unknown }[] = [];
  let bytes = 0;
  const compile = (query: string, operationName?: string, given = graph) =>
    compileEvents<string>(given, parse(query), {
      ...contents,
      operationName,
      async ask({ operation: { service, text }, variables }, context) {
        asked.push({ service, text, variables, context });
        if (service !== 'orders') return responseOf(service, text, variables);
        const keys = variables['representations'] as { code: string }[];
        return { data: { _entities: keys.map(({ code }) => ({ price: Number(code) })) } };
      },
      resized: (more) => (bytes += more),
    });
  const review = (id: number) => ({ reviewed: { words: `words ${id}`, product: { id: String(id) } } });
  const line = (code: number) => ({ count: 1, item: { code: String(code), shop: 's' } });
  const order = { ordered: { lines: [[line(1)], [], [line(2), line(3)]] } };
  const run = async (compiled: ReturnType<typeof compile>, root: object, variables = {}, context = 'ada') => {
    if (compiled.project) throw new Error('needs no service');
    return compiled.run({ ...root }, { variables, context });
  };
  beforeEach(() => {
    bytes = 0;
    asked.length = 0;
  });

  it('are results without a plan or a request if they contain all that is selected', () => {
    const query = `query Other { __typename } subscription Events($of: String) { ordered(representations: $of) { ...Whole } }
      fragment Whole on Order { rows: lines { count item { __typename code } } }`;
    const plan = () => {
      throw new Error('planned');
    };
    const { project } = compile(query, 'Events', { ...orders, plan });
    const row = (code: number) => ({ count: 1, item: { __typename: 'Item', code: String(code) } });
    expect(project?.(order)).toEqual({ data: { ordered: { rows: [[row(1)], [], [row(2), row(3)]] } } });
    expect([asked, bytes]).toEqual([[], 0]);
  });

  it('need no request for what they contain if an argument is required', async () => {
    const compiled = compile('subscription ($n: Int!) { reviewed(first: $n) { words } }');
    expect(await run(compiled, review(1), { n: 1 })).toMatchObject({ data: { reviewed: { words: 'words 1' } } });
    expect(asked).toEqual([]);
  });

  it('get the fields that they lack from their own service by key, and from others', async () => {
    const { data, errors } = await run(compile(REVIEWED), review(7), { n: 1 });
    expect([data, errors]).toEqual([{ reviewed: { words: 'words 7', product: { stars: 4, title: 'Product 7' } } }, []]);
    const variables = { representations: [{ __typename: 'Product', id: '7' }] };
    expect(asked.toSorted((one, other) => (one.service < other.service ? -1 : 1))).toEqual([
      { service: 'products', text: expect.stringContaining('name'), variables, context: 'ada' },
      { service: 'reviews', text: expect.stringMatching(/^query.*stars/), variables, context: 'ada' },
    ]);
  });

  it('are planned and counted once for each combination of conditions, of which 16 are kept', async () => {
    const plan = jest.fn(graph.plan);
    const compiled = compile(conditional, undefined, { ...graph, plan });
    const sizes: number[] = [];
    for (const [index, variables] of combinations.entries())
      for (let turn = 0; turn < 2; turn++) {
        const { data } = await run(compiled, review(1), variables);
        expect(data).toEqual({ reviewed: { product: shown(index, 1) } });
        sizes.push(bytes);
      }
    expect(plan).toHaveBeenCalledTimes(32);
    for (const index of combinations.keys()) expect(sizes[2 * index + 1]).toBe(sizes[2 * index]);
    expect(sizes[63]).toBeLessThan(1.5 * (sizes[31] ?? 0));
  });

  it('have errors of their service where they lack what they should contain', async () => {
    const { data, errors } = await run(compile(REVIEWED), { reviewed: { product: { id: '1' } } }, { n: 1 });
    expect(data).toBeNull();
    expect(errors).toMatchObject([
      { message: expect.stringContaining('Review.words'), service: 'reviews', path: ['reviewed', 'words'] },
    ]);
  });

  it('may contain lists, and lack fields with arguments', async () => {
    const query = `subscription ($representations: String, $in: String!) {
      ordered(representations: $representations) { lines { count item { code price(in: $in) } } }
    }`;
    const { data } = await run(compile(query, undefined, orders), order, { representations: 'x', in: 'EUR' });
    const priced = (code: number) => ({ count: 1, item: { code: String(code), price: code } });
    expect(data).toEqual({ ordered: { lines: [[priced(1)], [], [priced(2), priced(3)]] } });
    const representations = [1, 2, 3].map((code) => ({ __typename: 'Item', code: String(code), shop: 's' }));
    expect(asked).toMatchObject([{ service: 'orders', variables: { representations, in: 'EUR' } }]);
  });

  describe('with interfaces and unions', () => {
    const things = `type Query { any: Any } type Subscription { seen: Thing listed: P } union Any = P | Q
      interface Thing { id: ID! name: String any: [Any!] owner: Thing }
      type P implements Thing @key(fields: "id") { id: ID! name: String any: [Any!] owner: P value: Int item: Item }
      type Q implements Thing @key(fields: "id") { id: ID! name: String any: [Any!] owner: Thing value: String item: Item! }
      type Item @key(fields: "id") { id: ID! name: String }`;
    const shop = `type P @key(fields: "id") { id: ID! price: String } type Item @key(fields: "id") { id: ID! name: String @external }
      type Q @key(fields: "id") { id: ID! item: Item! @external tag: String @requires(fields: "item { name }") }`;
    const p = (id: string, more = {}) => ({ __typename: 'P', id: `p${id}`, ...more });
    const q = (id: string, more = {}) => ({ __typename: 'Q', id: `q${id}`, ...more });
    const world = createWorld(
      { things, shop },
      {
        seed: 1,
        fixed: (type, field, { id }) =>
          ({ any: [p('2'), q('3')], value: type === 'P' ? 2 : 'three' })[field] ?? `${field} of ${type} ${id}`,
      },
    );
    const result = async (selected: string, event: object, root = 'seen') => {
      const has = (...names: string[]) => new Set(['id', ...names]);
      const contained = root === 'seen' ? has('any', 'owner', 'item') : has();
      const events = compileEvents<string>(world.graph, parse(`subscription { ${root} { ${selected} } }`), {
        fields: { Subscription: new Set(['seen', 'listed']), P: contained, Q: contained, Item: has() },
        keys: { P: ['id'], Q: ['id'], Item: ['id'] },
        ask: (request) => world.ask(request, []),
      });
      const { data, errors } = await run(events, { [root]: event });
      expect(errors).toEqual([]);
      return data?.[root];
    };

    it.each([
      [
        'of the event itself',
        '... on P { id name price }',
        p('1'),
        { id: 'p1', name: 'name of P p1', price: 'price of P p1' },
      ],
      ['of another type', '... on P { id name }', q('1'), {}],
      ['selected for all types', '__typename name', q('1'), { __typename: 'Q', name: 'name of Q q1' }],
      [
        'of a list',
        'any { ... on P { name } ... on Q { id } }',
        p('1', { any: [p('2'), q('3'), p('4')] }),
        { any: [{ name: 'name of P p2' }, { id: 'q3' }, { name: 'name of P p4' }] },
      ],
      [
        'below a field of all types',
        'owner { owner { name } }',
        q('1', { owner: q('2', { owner: p('3') }) }),
        { owner: { owner: { name: 'name of P p3' } } },
      ],
      [
        'with a type of its own in each type',
        'any { ... on P { a: value } ... on Q { b: value } }',
        p('1', { any: [p('2'), q('3')] }),
        { any: [{ a: 2 }, { b: 'three' }] },
      ],
      [
        'that another service requires, below a field with a type of its own in each type',
        '... on P { item { name } } ... on Q { tag }',
        q('1', { item: { id: 'i1' } }),
        { tag: 'tag of Q q1' },
      ],
    ])('get fields %s', async (_what, selected, event, expected) => {
      expect(await result(selected, event)).toEqual(expected);
    });

    it('are planned once for all types that have a field, at each of many levels', async () => {
      const names = ['A', 'B', 'C', 'D'];
      const type = (name: string) => `type ${name} implements N @key(fields: "id") { id: ID! owner: N }`;
      const sdl = `type Query { a: A } type Subscription { seen: N } interface N { id: ID! owner: N } ${names.map(type).join(' ')}`;
      const { graph, ask } = createWorld({ things: sdl }, { seed: 1 });
      const contained = names.map((name) => [name, new Set(name === 'D' ? ['id'] : ['id', 'owner'])] as const);
      const document = parse(`subscription { seen { ${'owner { '.repeat(10)} id ${'} '.repeat(10)} } }`);
      const events = compileEvents<string>(graph, document, {
        fields: { Subscription: new Set(['seen']), ...Object.fromEntries(contained) },
        keys: Object.fromEntries(names.map((name) => [name, ['id']])),
        ask: (request) => ask(request, []),
      });
      const { data } = await run(events, { seen: { __typename: 'A', id: '1', owner: null } });
      expect(data).toEqual({ seen: { owner: null } });
    });

    it.each(['seen', 'listed'])('get fields below those that they lack (%s)', async (root) => {
      const selected = '... on P { any { ... on P { a: value } ... on Q { b: value } } }';
      const event = root === 'seen' ? p('1', { any: [p('2'), q('3')] }) : p('1');
      expect(await result(selected, event, root)).toEqual({ any: [{ a: 2 }, { b: 'three' }] });
    });
  });

  it.each([
    ['a query', '{ product(id: 1) { name } }', undefined],
    ['another operation', REVIEWED, 'Other'],
  ])('are not compiled for %s', (_what, query, name) => {
    expect(() => compile(query, name)).toThrow('The document has no such subscription.');
  });
});
