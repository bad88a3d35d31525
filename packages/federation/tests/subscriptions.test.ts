import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse, printSchema, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';
import { compiledSubscriptions, readSupergraph, type SubgraphAnswer, type SubgraphRequest } from '../src/index.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';
const SERVICES = {
  products: `${LINK} type Query { product: Product } type Product @key(fields: "id") { id: ID! name: String! }`,
  reviews: `${LINK} type Product @key(fields: "id") { id: ID! stars: Int! }
    type Subscription { reviewed(first: Int!): Review! } type Review { words: String! product: Product! }`,
};
let closed = 0;
const RESOLVERS = {
  products: { Product: { __resolveReference: ({ id }: { id: string }) => ({ id, name: `Product ${id}` }) } },
  reviews: {
    Subscription: {
      reviewed: {
        async *subscribe(_source: unknown, { first }: { first: number }) {
          try {
            for (let id = 1; id <= Math.abs(first); id++)
              yield {
                reviewed: { words: id === 13 ? null : `words ${id}`, product: { id: String(id), stars: id % 5 } },
              };
            if (first < 0) await new Promise(() => undefined); // an idle one
          } finally {
            closed++;
          }
        },
      },
    },
  },
};
const schemas = new Map<string, GraphQLSchema>(
  Object.entries(SERVICES).map(([name, sdl]) => [
    name,
    buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: RESOLVERS[name as keyof typeof RESOLVERS] }),
  ]),
);
const { supergraphSdl: supergraph = '' } = composeServices(
  Object.entries(SERVICES).map(([name, sdl]) => ({ name, url: `http://${name}`, typeDefs: parse(sdl) })),
);
const QUERY = 'subscription ($n: Int!) { reviewed(first: $n) { words product { stars title: name } } }';
const eventOf = (id: number) => ({
  reviewed: { words: `words ${id}`, product: { stars: id % 5, title: `Product ${id}` } },
});

const ask = async ({ operation: { service, text }, variables }: SubgraphRequest): Promise<SubgraphAnswer> => {
  const schema = schemas.get(service);
  if (!schema) throw new Error(`There is no service ${service}.`);
  return JSON.parse(
    JSON.stringify(await graphql({ schema, source: text, variableValues: variables })),
  ) as SubgraphAnswer;
};

describe('a subscription over several services', () => {
  const asked: { service: string; text: string; variables: unknown; user: unknown }[] = [];
  let ended = 0;
  /** What the service sends. */
  let events: (signal: AbortSignal) => AsyncGenerator<SubgraphAnswer>;
  const subscribe = compiledSubscriptions<{ user: string }>({
    supergraph,
    ask,
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

  it('asks one service for events, once, and others for what each event lacks', async () => {
    expect(await collect(QUERY, { n: 3 })).toEqual([1, 2, 3].map((id) => ({ data: eventOf(id) })));
    expect(asked).toEqual([
      { service: 'reviews', text: expect.stringMatching(/^subscription/), variables: { n: 3 }, user: 'ada' },
    ]);
    expect(ended).toBe(1);
  });

  it('ends the subscription at the service when the client leaves', async () => {
    const opened = await open(QUERY, { n: 3 });
    if (!(Symbol.asyncIterator in opened)) throw new Error('refused');
    for await (const _result of opened) break;
    expect(ended).toBe(1);
  });

  it.each([
    ['ends', () => undefined],
    ['fails', (signal: AbortSignal) => signal.throwIfAborted()],
  ])(
    'ends the subscription at the service when the client leaves while no event comes, if it %s',
    async (_how, end) => {
      events = async function* (signal) {
        yield review(1);
        await once(signal, 'abort');
        end(signal);
      };
      const opened = await open(QUERY, { n: 3 });
      if (!(Symbol.asyncIterator in opened)) throw new Error('refused');
      expect(await opened.next()).toMatchObject({ done: false });
      const next = opened.next();
      await opened.return();
      expect(ended).toBe(1);
      expect(await next).toEqual({ done: true, value: undefined });
      expect(await opened.next()).toEqual({ done: true, value: undefined });
    },
  );

  it('reports errors of an event at their place, and continues', async () => {
    events = async function* () {
      yield { data: null, errors: [{ message: 'no words today', path: ['reviewed', 'words'] }] };
      yield review(2);
    };
    const [first, second] = await collect(QUERY, { n: 2 });
    expect(first).toMatchObject({ data: null, errors: [{ message: 'no words today' }] });
    expect(second).toEqual({ data: eventOf(2) });
  });

  it('ends with an error when the service cannot be subscribed to', async () => {
    events = async function* () {
      throw new Error('connection refused');
    };
    expect(await collect(QUERY, { n: 2 })).toMatchObject([
      { data: null, errors: [{ extensions: { serviceName: 'reviews' } }] },
    ]);
    expect(ended).toBe(1);
  });

  it.each([
    ['variables of another type', QUERY, { n: 'three' }],
    ['a query', '{ product { name } }', {}],
  ])('refuses %s without asking', async (_what, query, variables) => {
    expect(await collect(query, variables)).toMatchObject([{ errors: [{ message: expect.any(String) }] }]);
    expect(asked).toEqual([]);
  });
});

it('runs as the README says, as an installed package', async () => {
  const root = join(import.meta.dirname, '..');
  const project = mkdtempSync(join(root, 'example-'));
  const servers: Server[] = [];
  const urls: Record<string, string> = {};
  let reviews: WebSocketServer | undefined;
  for (const [name, schema] of schemas) {
    const server = createServer((request, response) => {
      void json(request)
        .then((body) => body as { query: string; variables: Record<string, unknown> })
        .then(({ query, variables }) => graphql({ schema, source: query, variableValues: variables }))
        .then((result) => response.end(JSON.stringify(result)));
    }).listen(0, '127.0.0.1');
    const webSockets = new WebSocketServer({ server, path: '/graphql' });
    useServer({ schema }, webSockets);
    if (name === 'reviews') reviews = webSockets;
    await once(server, 'listening');
    servers.push(server);
    urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  }
  try {
    const installed = join(project, 'node_modules/@taskmesh/federation');
    mkdirSync(installed, { recursive: true });
    execFileSync(process.execPath, [join(root, '../../tools/build-package.ts'), 'federation', installed]);
    const [, , example = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('```js\n');
    const code = (example.split('```')[0] ?? '')
      .replace(/const urls = .*;/, `const urls = ${JSON.stringify(urls)};`)
      .replace('port: 4000', 'port: 0');
    writeFileSync(join(project, 'supergraph.graphql'), supergraph);
    writeFileSync(join(project, 'api.graphql'), printSchema(readSupergraph(supergraph).schema));
    writeFileSync(join(project, 'example.mjs'), code);
    const gateway = spawn(process.execPath, ['example.mjs'], { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(gateway.stdout.setEncoding('utf8'), 'data')) as [string];
      const client = createClient({ url: /ws:\S+/.exec(line)?.[0] ?? '', webSocketImpl: WebSocket });
      const results: unknown[] = [];
      for await (const result of client.iterate({ query: QUERY, variables: { n: 3 } })) results.push(result);
      expect(results).toEqual([1, 2, 3].map((id) => ({ data: eventOf(id) })));
      expect(closed).toBe(1);
      const connected = once(reviews as WebSocketServer, 'connection'); // made above
      const idle = client.iterate({ query: QUERY, variables: { n: -1 } });
      await idle.next();
      const [upstream] = (await connected) as [WebSocket];
      const left = once(upstream, 'close');
      await idle.return?.();
      await left;
      await client.dispose();
    } finally {
      gateway.kill();
    }
  } finally {
    for (const server of servers) server.close().closeAllConnections();
    rmSync(project, { recursive: true });
  }
});
