import { composeServices } from '@apollo/composition';
import { ApolloServer } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse, type GraphQLSchema } from 'graphql';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { compiledGateway, type AskSubgraph } from '../src/index.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';
const SERVICES = {
  products: `${LINK} type Query { product(id: ID!): Product } type Product @key(fields: "id") { id: ID! name: String! }`,
  reviews: `${LINK} type Product @key(fields: "id") { id: ID! stars: Int! words: String }`,
};
const RESOLVERS = {
  products: { Query: { product: (_source: unknown, { id }: { id: string }) => ({ id, name: `Product ${id}` }) } },
  reviews: {
    Product: {
      __resolveReference: ({ id }: { id: string }) => ({ id, stars: 4 }),
      words: () => {
        throw new Error('no words today');
      },
    },
  },
};
const QUERY = 'query ($id: ID!) { product(id: $id) { name stars words } }';
const NO_WORDS = { message: 'no words today', path: ['product', 'words'] };

const schemas = new Map<string, GraphQLSchema>(
  Object.entries(SERVICES).map(([name, sdl]) => [
    name,
    buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: RESOLVERS[name as keyof typeof RESOLVERS] }),
  ]),
);
const { supergraphSdl: supergraph = '' } = composeServices(
  Object.entries(SERVICES).map(([name, sdl]) => ({ name, url: `http://${name}`, typeDefs: parse(sdl) })),
);

const run = async (service: string, source: string, variableValues: Record<string, unknown>) => {
  const schema = schemas.get(service);
  if (!schema) throw new Error(`There is no service ${service}.`);
  return JSON.parse(JSON.stringify(await graphql({ schema, source, variableValues }))) as object;
};

describe("Apollo Server's gateway", () => {
  const asked: { service: string; user: string | undefined }[] = [];
  const ask: AskSubgraph<{ user?: string }> = async ({ operation: { service, text }, variables }, { user }) => {
    asked.push({ service, user });
    return run(service, text, variables);
  };
  const server = new ApolloServer<{ user?: string }>({ gateway: compiledGateway({ supergraph, ask }) });
  beforeAll(() => server.start());
  afterAll(() => server.stop());
  beforeEach(() => void asked.splice(0));

  const execute = async (query: string, variables: Record<string, unknown> = {}) => {
    const { body } = await server.executeOperation({ query, variables }, { contextValue: { user: 'ada' } });
    if (body.kind !== 'single') throw new Error('not a single result');
    return body.singleResult;
  };

  it('joins entities of several services, with the context of the request', async () => {
    expect(await execute('{ product(id: 1) { name stars } }')).toEqual({
      data: { product: { name: 'Product 1', stars: 4 } },
    });
    expect(asked).toEqual([
      { service: 'products', user: 'ada' },
      { service: 'reviews', user: 'ada' },
    ]);
  });

  it('reports errors of services where the client sees them', async () => {
    const { data, errors } = await execute(QUERY, { id: '2' });
    expect(data).toEqual({ product: { name: 'Product 2', stars: 4, words: null } });
    expect(errors).toEqual([expect.objectContaining(NO_WORDS)]);
    expect(errors?.[0]?.extensions).toMatchObject({ serviceName: 'reviews' });
  });

  it('refuses variables of another type, and asks nothing', async () => {
    const { errors } = await execute(QUERY, { id: { not: 'an id' } });
    expect(errors?.[0]?.message).toMatch(/^Variable "\$id" got invalid value/);
    expect(asked).toEqual([]);
  });

  it('answers introspection', async () => {
    expect(await execute('{ __type(name: "Product") { fields { name } } }')).toEqual({
      data: { __type: { fields: [{ name: 'id' }, { name: 'name' }, { name: 'stars' }, { name: 'words' }] } },
    });
  });
});

it('runs as its README says', async () => {
  const servers: Server[] = [];
  const urls: Record<string, string> = {};
  for (const name of schemas.keys()) {
    const respond = async (request: IncomingMessage) => {
      const { query, variables } = (await json(request)) as { query: string; variables: Record<string, unknown> };
      return JSON.stringify(await run(name, query, variables));
    };
    const server = createServer((request, response) => void respond(request).then((body) => response.end(body))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    servers.push(server);
    urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  }
  const root = join(import.meta.dirname, '..');
  const dir = mkdtempSync(join(root, 'example-'));
  const [, example = ''] = /```js\n([^]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  writeFileSync(join(dir, 'supergraph.graphql'), supergraph);
  writeFileSync(
    join(dir, 'example.mjs'),
    example.replace(/const urls = .*;/, `const urls = ${JSON.stringify(urls)};`).replace('port: 4000', 'port: 0'),
  );
  const gateway = spawn(process.execPath, ['example.mjs'], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(gateway.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = /http:\S+/.exec(line)?.[0] ?? '';
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY, variables: { id: '3' } }),
    });
    expect(await response.json()).toMatchObject({
      data: { product: { name: 'Product 3', stars: 4 } },
      errors: [NO_WORDS],
    });
  } finally {
    gateway.kill();
    for (const server of servers) server.close();
    rmSync(dir, { recursive: true });
  }
});
