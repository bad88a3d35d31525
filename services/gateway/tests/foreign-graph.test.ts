import { eventually } from '@taskmesh/testing';
import { composed, startForeignService, type ForeignService } from './fakes/foreign-service.ts';
import { startTestGateway, useGateway } from './fakes/gateway.ts';

const PRODUCTS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@authenticated"])
  type Product @key(fields: "id") { id: ID! name: String! secret: String @authenticated }
  type Query { products: [Product!]! unreviewed: Product broken: String }
  type Subscription { productAdded: Product! }
`;
const REVIEWS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])
  type Product @key(fields: "id") { id: ID! stars: Int! note: String }
`;

describe.each(['compiled', 'apollo'])('a gateway of a foreign graph, with the %s executor', (executor) => {
  let products: ForeignService;
  let reviews: ForeignService;
  const gateway = useGateway(async () => {
    const query = {
      products: () => [
        { id: '1', name: 'Chair', secret: 'x' },
        { id: '2', name: 'Table' },
      ],
      unreviewed: () => ({ id: '0', name: 'Lamp' }),
      broken: () => {
        throw new Error('inner workings at 10.0.0.7');
      },
    };
    products = await startForeignService(PRODUCTS, { Query: query });
    reviews = await startForeignService(REVIEWS, {
      Product: {
        __resolveReference: ({ id }: { id: string }) => (id === '0' ? null : { id, stars: Number(id) }),
      },
    });
    const supergraph = composed([
      { name: 'products', url: products.url, typeDefs: PRODUCTS },
      { name: 'reviews', url: reviews.url, typeDefs: REVIEWS },
    ]);
    return { env: { GATEWAY_EXECUTOR: executor }, files: { SUPERGRAPH_FILE: supergraph } };
  });

  it('uses the addresses in the file', async () => {
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

  it('sends those services nothing about its clients', async () => {
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
    expect((await fetch(gateway.origin, { headers: { accept: 'text/html' } })).status).toBe(404);
    expect((await gateway.graphql('mutation { logout }')).body.errors?.[0]?.extensions.code).toBe(
      'OPERATION_RESOLUTION_FAILURE',
    );
    expect((await gateway.graphql('{ me { id } }')).body.errors?.[0]?.extensions.code).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
  });

  it('does not reveal the failures of services', async () => {
    const { body } = await gateway.graphql('{ broken }');
    expect(body.data).toEqual({ broken: null });
    expect(body.errors?.[0]).toMatchObject({ message: 'Internal server error', path: ['broken'] });
  });

  it('reports an error if a service omits a value that its schema promises', async () => {
    const { body } = await gateway.graphql('{ unreviewed { name stars } }');
    expect(body).toEqual({
      data: { unreviewed: null },
      errors: [
        {
          message: 'Internal server error',
          path: ['unreviewed', 'stars'],
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
        },
      ],
    });
  });

  it('has an error for each null of an unavailable service', async () => {
    reviews.failWith(502);
    const { body } = await gateway.graphql('{ products { name a: note b: note } }');
    reviews.failWith(undefined);
    expect(body.data).toEqual({
      products: [
        { name: 'Chair', a: null, b: null },
        { name: 'Table', a: null, b: null },
      ],
    });
    const paths = body.errors?.map(({ path }) => path);
    // Apollo's executor reports no path when a request fails as a whole.
    const expected = [0, 1].flatMap((index) => [
      ['products', index, 'a'],
      ['products', index, 'b'],
    ]);
    expect(paths).toEqual(executor === 'compiled' ? expected : [undefined]);
    expect(new Set(body.errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  });

  it('is ready without our services', async () => {
    await eventually(async () => (await fetch(`${gateway.origin}/readyz`)).status === 200);
    expect(gateway.auth.keyCalls()).toBe(0);
  });
});

describe('a gateway of a foreign graph that can restore', () => {
  const LIBRARY = `
    type Query { books: [String!]! }
    type Mutation { restoreBackup(file: String!): Restored! }
    type Restored { success: Boolean! message: String! error: String outcome: Outcome! skipped: [Skipped!]! }
    type Skipped { kind: String! count: Int! }
    enum Outcome { RESTORED BUSY }
  `;
  const restoreBackup = (_parent: unknown, { file }: { file: string }) =>
    file === 'books.tar.gz'
      ? { success: true, message: 'Restored.', outcome: 'RESTORED', skipped: [] }
      : { success: false, message: 'Not now.', error: 'Another one runs.', outcome: 'BUSY', skipped: [] };
  let library: ForeignService;
  const gateway = useGateway(async () => {
    library = await startForeignService(LIBRARY, { Mutation: { restoreBackup } });
    const supergraph = composed([{ name: 'library', url: library.url, typeDefs: LIBRARY }]);
    return { files: { SUPERGRAPH_FILE: supergraph } };
  });

  const call = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.origin}/api/${path}`, { method, headers });
    return { status: response.status, json: (await response.json()) as unknown };
  };

  it('restores with its own mutation, which accepts only a file', async () => {
    const done = { success: true, message: 'Restored.' };
    expect(await call('POST', 'backup/restore?file=books.tar.gz')).toEqual({ status: 200, json: done });
    expect(await call('POST', 'backup/restore?file=books.tar.gz', { accept: 'application/x-ndjson' })).toEqual({
      status: 200,
      json: { status: 200, ...done, databaseRestored: true },
    });
    expect(await call('POST', 'backup/restore?file=other.tar.gz')).toEqual({
      status: 500,
      json: { success: false, message: 'Not now.', error: 'Another one runs.' },
    });
    for (const parameter of ['stores=tasks', 'safetyBackup=true', 'safetyBackup=false', 'decryptedFrom=a'])
      expect(await call('POST', `backup/restore?file=books.tar.gz&${parameter}`)).toMatchObject({ status: 400 });
    const far = { 'x-forwarded-for': '10.0.0.1' };
    expect(await call('POST', 'backup/restore?file=books.tar.gz', far)).toMatchObject({ status: 403 });
  });

  it('serves and describes no other backup path', async () => {
    for (const path of ['backups', 'backups/books.tar.gz', 'backup/undo'])
      expect(await call('GET', path)).toMatchObject({ status: 404 });
    for (const path of ['backups/scan', 'backup/dry-run?file=books.tar.gz', 'backup/new-epoch'])
      expect(await call('POST', path)).toMatchObject({ status: 404 });
    const { json } = await call('GET', 'openapi.json');
    expect(json).toMatchObject({ tags: [{ name: 'Backups' }] });
    const { paths } = json as { paths: Record<string, { post: { parameters: { name: string }[] } }> };
    expect(Object.keys(paths)).toEqual(['/api/backup/restore']);
    expect(paths['/api/backup/restore']?.post.parameters.map(({ name }) => name)).toEqual(['file']);
  });
});

it('a gateway with a file that is not a supergraph does not start', async () => {
  await expect(startTestGateway({ env: { SUPERGRAPH_FILE: import.meta.filename } })).rejects.toThrow();
});
