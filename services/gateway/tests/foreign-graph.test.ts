import { composeServices } from '@apollo/composition';
import { eventually } from '@taskmesh/testing';
import { parse } from 'graphql';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startForeignService, type ForeignService } from './fakes/foreign-service.ts';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const PRODUCTS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@authenticated"])
  type Product @key(fields: "id") { id: ID! name: String! secret: String @authenticated }
  type Query { products: [Product!]! broken: String }
  type Subscription { productAdded: Product! }
`;
const REVIEWS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])
  type Product @key(fields: "id") { id: ID! stars: Int! }
`;

describe.each(['compiled', 'apollo'])('a gateway of a foreign graph, by the %s executor', (executor) => {
  let products: ForeignService;
  let reviews: ForeignService;
  let gateway: TestGateway;
  let folder: string;

  beforeAll(async () => {
    const query = {
      products: () => [
        { id: '1', name: 'Chair', secret: 'x' },
        { id: '2', name: 'Table' },
      ],
      broken: () => {
        throw new Error('inner workings at 10.0.0.7');
      },
    };
    products = await startForeignService(PRODUCTS, { Query: query });
    reviews = await startForeignService(REVIEWS, {
      Product: { __resolveReference: ({ id }: { id: string }) => ({ id, stars: Number(id) }) },
    });
    const { supergraphSdl } = composeServices([
      { name: 'products', url: products.url, typeDefs: parse(PRODUCTS) },
      { name: 'reviews', url: reviews.url, typeDefs: parse(REVIEWS) },
    ]);
    folder = await mkdtemp(join(tmpdir(), 'supergraph-'));
    const file = join(folder, 'supergraph.graphql');
    await writeFile(file, supergraphSdl ?? '');
    gateway = await startTestGateway({ env: { SUPERGRAPH_FILE: file, GATEWAY_EXECUTOR: executor } });
  });
  afterAll(async () => {
    await gateway.stop();
    for (const service of [products, reviews]) service.stop();
    await rm(folder, { recursive: true });
  });

  it('answers from the addresses in the file', async () => {
    const { body } = await gateway.graphql(
      'query P($with: Boolean!) { items: products { name stars @include(if: $with) } }',
      { variables: { with: true } },
    );
    expect(body).toEqual({
      data: {
        items: [
          { name: 'Chair', stars: 1 },
          { name: 'Table', stars: 2 },
        ],
      },
    });
  });

  it('tells those services nothing of its clients', async () => {
    products.seen.length = 0;
    const headers = {
      cookie: 'a=b',
      'x-user-id': 'me',
      'x-request-id': 'mine',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    };
    await gateway.graphql('{ products { name } }', {
      token: await gateway.auth.token('a0000000-0000-4000-8000-000000000001'),
      headers,
    });
    expect(products.seen).toHaveLength(1);
    expect(Object.keys(products.seen[0] ?? {}).toSorted()).toEqual([
      'accept',
      'connection',
      'content-length',
      'content-type',
      'host',
    ]);
  });

  it('serves none of our own paths', async () => {
    for (const path of ['/api/tasks', '/api/auth/me', '/full/api/tasks', '/reduced/api/tasks']) {
      expect((await fetch(`${gateway.origin}${path}`)).status).toBe(404);
    }
    expect((await gateway.graphql('mutation { logout }')).body.errors?.[0]?.extensions.code).toBe(
      'OPERATION_RESOLUTION_FAILURE',
    );
    expect((await gateway.graphql('{ me { id } }')).body.errors?.[0]?.extensions.code).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
  });

  it('keeps the services failures to itself', async () => {
    const { body } = await gateway.graphql('{ broken }');
    expect(body.data).toEqual({ broken: null });
    expect(body.errors?.[0]).toMatchObject({ message: 'Internal server error', path: ['broken'] });
  });

  it('is ready without our services', async () => {
    await eventually(async () => (await fetch(`${gateway.origin}/readyz`)).status === 200);
    expect(gateway.auth.keyCalls()).toBe(0);
  });
});

describe('a gateway of a file that is no supergraph', () => {
  it('does not start', async () => {
    await expect(startTestGateway({ env: { SUPERGRAPH_FILE: import.meta.filename } })).rejects.toThrow();
  });
});
