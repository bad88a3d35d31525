import { eventually } from '@taskmesh/testing';
import { composed, startForeignService, type ForeignService } from './fakes/foreign-service.ts';
import { startTestGateway, useGateway, USER } from './fakes/gateway.ts';

const PRODUCTS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@authenticated"])
  type Product @key(fields: "id") { id: ID! name: String! secret: String @authenticated }
  type Query { products: [Product!]! }
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
    const [chair, table] = [{ id: '1', name: 'Chair', secret: 'x' }, { id: '2', name: 'Table' }]; // prettier-ignore
    products = await startForeignService(PRODUCTS, { Query: { products: () => [chair, table] } });
    const __resolveReference = ({ id }: { id: string }) => ({ id, stars: Number(id) });
    reviews = await startForeignService(REVIEWS, { Product: { __resolveReference } });
    const supergraph = composed([
      { name: 'products', url: products.url, typeDefs: PRODUCTS },
      { name: 'reviews', url: reviews.url, typeDefs: REVIEWS },
    ]);
    return { env: { GATEWAY_EXECUTOR: executor }, files: { SUPERGRAPH_FILE: supergraph } };
  });

  it('uses the addresses in the file', async () => {
    const query = 'query P($with: Boolean!) { items: products { name stars @include(if: $with) } }';
    const { body } = await gateway.graphql(query, { variables: { with: true } });
    expect(body).toEqual({ data: { items: ['Chair', 'Table'].map((name, index) => ({ name, stars: index + 1 })) } });
  });

  it('sends those services nothing about its clients', async () => {
    products.seen.length = 0;
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { cookie: 'a=b', 'x-user-id': 'me', 'x-request-id': 'mine', traceparent };
    await gateway.graphql('{ products { name } }', { token: await gateway.auth.token(USER), headers });
    const names = ['accept', 'connection', 'content-length', 'content-type', 'host'];
    expect(products.seen.map((seen) => Object.keys(seen).toSorted())).toEqual([names]);
  });

  it('serves none of our own paths', async () => {
    for (const path of ['/', '/api/tasks', '/api/auth/me', '/full/api/tasks', '/reduced/api/tasks'])
      expect((await fetch(`${gateway.origin}${path}`, { headers: { accept: 'text/html' } })).status).toBe(404);
    const codeOf = async (query: string) => (await gateway.graphql(query)).body.errors?.[0]?.extensions.code;
    expect(await codeOf('mutation { logout }')).toBe('OPERATION_RESOLUTION_FAILURE');
    expect(await codeOf('{ me { id } }')).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('has an error for each null of an unavailable service', async () => {
    reviews.failWith(502);
    const { body } = await gateway.graphql('{ products { name a: note b: note } }');
    reviews.failWith(undefined);
    expect(body.data).toEqual({ products: ['Chair', 'Table'].map((name) => ({ name, a: null, b: null })) });
    const paths = body.errors?.map(({ path }) => path);
    // Apollo's executor reports no path when a request fails as a whole.
    const expected = [0, 1].flatMap((index) => ['a', 'b'].map((name) => ['products', index, name]));
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
  const gateway = useGateway(async () => {
    const { url } = await startForeignService(LIBRARY, { Mutation: { restoreBackup } });
    return { files: { SUPERGRAPH_FILE: composed([{ name: 'library', url, typeDefs: LIBRARY }]) } };
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
