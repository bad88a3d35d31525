import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVersion } from '@taskmesh/service';
import { parseJsonObject } from '../src/http/json-object.ts';
import type { OpenApiDocument } from '../src/rest/openapi/document.ts';
import type { MediaType, Response } from '../src/rest/openapi/types.ts';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';

async function described(rest: TestGateway): Promise<OpenApiDocument> {
  const response = await fetch(`${rest.origin}/api/openapi.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as OpenApiDocument;
}

function operationsOf({ paths }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

describe('the API description', () => {
  let rest: TestGateway;
  let document: OpenApiDocument;

  beforeAll(async () => {
    rest = await startTestGateway({ env: { PUBLIC_URL: 'https://tasks.example.com/' } });
    document = await described(rest);
  });
  afterAll(() => rest.stop());

  it('is OpenAPI 3.1, at the public address', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe(readVersion());
    expect(document.servers).toEqual([{ url: 'https://tasks.example.com' }]);
    expect(document.components.securitySchemes).toEqual({
      accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      backupToken: { type: 'http', scheme: 'bearer', description: expect.any(String) },
    });
  });

  it('has every row of the contract, and says where no token is needed', () => {
    expect(
      operationsOf(document)
        .map(({ method, path, operation }) => `${method} ${path}${operation.security.length > 0 ? '' : ', open'}`)
        .toSorted(),
    ).toEqual([
      'DELETE /api/auth/identities/{identityId}',
      'DELETE /api/auth/profile',
      'DELETE /api/auth/sessions',
      'DELETE /api/auth/sessions/{sessionId}',
      'DELETE /api/auth/tokens/{tokenId}',
      'DELETE /api/backups/{file}',
      'DELETE /api/operations/dead-letters/{deadLetterId}',
      'DELETE /api/tasks/{id}',
      'DELETE /reduced/api/tasks/{id}',
      'GET /api/auth/audit',
      'GET /api/auth/export',
      'GET /api/auth/identities',
      'GET /api/auth/me',
      'GET /api/auth/oidc, open',
      'GET /api/auth/oidc/callback, open',
      'GET /api/auth/oidc/start, open',
      'GET /api/auth/profile',
      'GET /api/auth/sessions',
      'GET /api/auth/tokens',
      'GET /api/backup/undo',
      'GET /api/backups',
      'GET /api/backups/{file}',
      'GET /api/operations/dead-letters',
      'GET /api/operations/status',
      'GET /api/tasks',
      'GET /api/tasks/stats',
      'GET /api/tasks/{id}',
      'GET /reduced/api/tasks',
      'GET /reduced/api/tasks/{id}',
      'PATCH /api/auth/profile',
      'PATCH /api/tasks/{id}',
      'PATCH /reduced/api/tasks/{id}',
      'POST /api/auth/change-email',
      'POST /api/auth/change-password',
      'POST /api/auth/confirm-email',
      'POST /api/auth/forgot-password, open',
      'POST /api/auth/identities',
      'POST /api/auth/login, open',
      'POST /api/auth/logout',
      'POST /api/auth/oidc/session, open',
      'POST /api/auth/refresh, open',
      'POST /api/auth/reset-password, open',
      'POST /api/auth/signup, open',
      'POST /api/auth/tokens',
      'POST /api/backup/dry-run',
      'POST /api/backup/new-epoch',
      'POST /api/backup/restore',
      'POST /api/backup/undo',
      'POST /api/backups',
      'POST /api/backups/scan',
      'POST /api/backups/{file}/verify',
      'POST /api/operations/check',
      'POST /api/operations/dead-letters/discard',
      'POST /api/operations/dead-letters/replay',
      'POST /api/operations/dead-letters/{deadLetterId}/replay',
      'POST /api/operations/sign-in, open', // where a code is needed
      'POST /api/tasks',
      'POST /reduced/api/tasks',
      'PUT /api/backups/{file}',
    ]);
  });

  it('names each operation once', () => {
    const names = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('refers only to what is there, and to all of it', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(100);
    for (const path of new Set(references)) {
      const target = path.split('/').reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
      expect([path, target]).toEqual([path, expect.any(Object)]);
    }
    const { securitySchemes: _named, ...components } = document.components;
    for (const [kind, members] of Object.entries(components))
      for (const name of Object.keys(members)) expect(references).toContain(`components/${kind}/${name}`);
  });

  it('lets a password in the body stand for a session where an address is confirmed', () => {
    expect(document.paths['/api/auth/confirm-email']?.post?.security).toEqual([{ accessToken: [] }, {}]);
  });

  it('has an example for each body, and each example fits its schema', () => {
    const ajv = new Ajv2020({ strict: false });
    (formats as unknown as (ajv: Ajv2020) => void)(ajv); // its types do not match the CommonJS default
    ajv.addSchema({ $id: 'api', components: document.components });
    const media: MediaType[] = [
      ...operationsOf(document).flatMap(({ operation }) => [
        operation.requestBody,
        ...Object.values(operation.responses),
      ]),
      ...Object.values(document.components.responses),
    ].flatMap((part) =>
      // Archives are bytes.
      Object.entries((part && 'content' in part && part.content) || {}).flatMap(([type, body]) =>
        type.includes('json') ? [body] : [],
      ),
    );
    expect(media.length).toBeGreaterThan(40);
    for (const { schema, example } of media) {
      const fits = ajv.validate({ $ref: `api${schema.$ref}` }, example);
      expect([schema.$ref, example, fits && 'fits']).toEqual([schema.$ref, expect.any(Object), 'fits']);
    }
  });

  it('says which fields a body must have, and a request without them gets the name of each', async () => {
    const authorization = `Bearer ${await rest.auth.token(USER)}`;
    const lacking = operationsOf(document).flatMap(({ path, method, operation }) => {
      const { $ref = '' } = operation.requestBody?.content['application/json']?.schema ?? {};
      const required = document.components.schemas[$ref.split('/').at(-1) ?? '']?.required ?? [];
      return required.length > 0 ? [{ path, method, required }] : [];
    });
    expect(lacking.length).toBeGreaterThan(10);
    for (const { path, method, required } of lacking) {
      const headers = { authorization, 'content-type': 'application/json' };
      const response = await fetch(rest.origin + path, { method, headers, body: '{}' });
      const { error } = (await response.json()) as { error: { details: { message: string }[] } };
      const expected = required.map((name) => expect.stringMatching(new RegExp(`^${name} is required(: .+)?\\.$`)));
      const messages = error.details.map(({ message }) => message);
      expect([path, response.status, messages]).toEqual([path, 400, expected]);
    }
  });

  it('describes the rules of a new task', () => {
    expect(document.components.schemas.TaskCreate).toMatchObject({
      required: ['title'],
      properties: {
        title: { minLength: 3, maxLength: 255 },
        priority: { enum: ['low', 'medium', 'high'], description: 'Default: `medium`.' },
      },
    });
    expect(document.paths['/api/tasks']?.get?.parameters).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 1_000 },
    });
  });

  it('has no default in a body: generated clients would ask for the field', () => {
    const bodies = operationsOf(document).flatMap(({ operation }) =>
      Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema.$ref?.split('/').at(-1) ?? ''),
    );
    const texts = [...new Set(bodies)].map((name) => JSON.stringify(document.components.schemas[name] ?? {}));
    expect(texts.length).toBeGreaterThan(8);
    for (const text of texts) expect(text).not.toContain('"default"');
  });

  it('has the limits of each text that a body takes', () => {
    const { SignUp, Login, ForgotPassword, ResetPassword, Refresh, TaskCreate, TaskUpdate } =
      document.components.schemas;
    expect(SignUp?.properties).toMatchObject({
      email: { maxLength: 254, format: 'email' },
      password: { minLength: 8, maxLength: 128 },
      name: { minLength: 1, maxLength: 255 },
    });
    expect(ResetPassword?.properties).toMatchObject({ password: { minLength: 8, maxLength: 128 } });
    for (const schema of [SignUp, Login, ForgotPassword, ResetPassword, Refresh, TaskCreate, TaskUpdate])
      for (const [name, property] of Object.entries(schema?.properties ?? {})) {
        const { type, maxLength, format } = property;
        if ([type].flat().includes('string') && !property.enum)
          expect([name, maxLength ?? format]).toEqual([name, expect.anything()]);
      }
  });

  it('suits generators of clients', () => {
    const schemas = JSON.stringify(document.components.schemas);
    expect(schemas).toContain('"type":["string","null"]');
    expect(schemas).not.toContain('"null"}');
    expect(schemas).not.toContain('"additionalProperties":false');
    expect(schemas).not.toMatch(/"const":(true|false)/);
    const parts: unknown[] = [];
    JSON.parse(schemas, (name, part) => (name === 'properties' && parts.push(part), part));
    for (const properties of parts) {
      const names = Object.keys(properties as object).map((name) => name.replaceAll('_', '').toLowerCase());
      expect(names).toEqual([...new Set(names)]);
    }
    const archive = { schema: { type: 'string', format: 'binary', description: 'The archive, as stored.' } };
    const content = { 'application/gzip': archive, 'application/octet-stream': archive };
    expect(document.paths['/api/backups/{file}']).toMatchObject({
      get: { responses: { 200: { content } } },
      put: { requestBody: { content } },
    });
  });

  it('has the rules of headers and parameters', () => {
    const parameter = (path: string, method: string, name: string) => {
      const found = document.paths[path]?.[method]?.parameters?.find((each) => each.name === name)?.schema;
      if (!found) throw new Error(`${method} ${path} has no ${name}`);
      return found;
    };
    const fits = (schema: object, value: unknown) => new Ajv2020().validate(schema, value);
    const key = parameter('/api/tasks', 'post', 'Idempotency-Key');
    for (const value of ['a', 'a b', '~'.repeat(255)]) expect([value, fits(key, value)]).toEqual([value, true]);
    for (const value of ['', ' ', 'ä', 'a\t', '~'.repeat(256)])
      expect([value, fits(key, value)]).toEqual([value, false]);
    const condition = parameter('/api/tasks/{id}', 'patch', 'If-Match');
    for (const value of ['*', '"1"', 'W/"1", "2"']) expect([value, fits(condition, value)]).toEqual([value, true]);
    for (const value of ['', '1', '"1', '*, "1"']) expect([value, fits(condition, value)]).toEqual([value, false]);
    expect(parameter('/api/tasks', 'get', 'completed')).toEqual({ type: 'boolean' });
    expect(parameter('/api/backup/restore', 'post', 'file')).toMatchObject({ minLength: 1 });
    const stores = parameter('/api/backup/dry-run', 'post', 'stores');
    for (const value of ['tasks', 'tasks,auth']) expect([value, fits(stores, value)]).toEqual([value, true]);
    for (const value of ['', 'other', 'tasks,']) expect([value, fits(stores, value)]).toEqual([value, false]);
    const original = parameter('/api/backup/restore', 'post', 'decryptedFrom');
    for (const value of ['a.tar.gz', 'b.tar.gz.age']) expect([value, fits(original, value)]).toEqual([value, true]);
    for (const value of ['', 'a.zip', '.a.tar.gz', 'b/a.tar.gz'])
      expect([value, fits(original, value)]).toEqual([value, false]);
    const choice = document.components.schemas.DeadLetterChoice ?? {};
    const most = { ids: Array.from({ length: choice.properties?.ids?.maxItems ?? 0 }, () => '1') };
    expect(() => parseJsonObject(Buffer.from(JSON.stringify(most)))).not.toThrow();
    for (const value of [most, { ids: ['1'] }, { all: true }])
      expect([value, fits(choice, value)]).toEqual([value, true]);
    for (const value of [{}, { ids: ['1'], all: true }, { one: '1' }])
      expect([value, fits(choice, value)]).toEqual([value, false]);
  });

  it('names a licence and a contact', () => {
    expect(document.info).toMatchObject({
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      contact: { name: 'Taskmesh', url: expect.stringMatching(/^https:/) },
    });
  });

  it('shows the ETag of answers with one task, and where a list goes on', async () => {
    const answerOf = (path: string, method: string, status: string) =>
      Object.keys((document.paths[path]?.[method]?.responses[status] as Response).headers ?? {});
    expect(answerOf('/api/tasks', 'post', '201')).toContain('ETag');
    expect(answerOf('/api/tasks/{id}', 'get', '200')).toContain('ETag');
    expect(answerOf('/api/tasks', 'get', '200')).toContain('Link');
  });

  it('has a page for people, which reads it and loads nothing from elsewhere', async () => {
    const response = await fetch(`${rest.origin}/api/docs`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]));
    const page = await response.text();
    expect(page).not.toMatch(/<script>|<style>|style=|onload=|https?:/);
    const loaded = [...page.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(([, path = '']) => path);
    const names = ['swagger-ui.css', 'api-reference.css', 'swagger-ui.js', 'api-reference.js'];
    expect(loaded.map((path) => path.replace(/^\/api\/docs\/assets\/[\w-]{16}\//, ''))).toEqual([
      ...names,
      '/api/openapi.json',
    ]);
    for (const path of loaded) {
      const asset = await fetch(`${rest.origin}${path}`);
      expect([path, asset.status, (await asset.text()).length > 0]).toEqual([path, 200, true]);
    }
  });
});

describe('a foreign graph', () => {
  const SDL = `
    schema @link(url: "https://specs.apollo.dev/link/v1.0") @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) { query: Query }
    directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
    directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
    directive @join__graph(name: String!, url: String!) on ENUM_VALUE
    directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
    directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true, isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
    directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION
    directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
    scalar join__FieldSet
    scalar link__Import
    enum link__Purpose { SECURITY EXECUTION }
    enum join__Graph { BOOKS @join__graph(name: "books", url: "http://127.0.0.1:1/graphql") }
    type Query @join__type(graph: BOOKS) { books: [String!]! }
  `;

  it('has none of our endpoints', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'taskmesh-foreign-'));
    const file = join(folder, 'supergraph.graphql');
    await writeFile(file, SDL);
    const rest = await startTestGateway({ env: { SUPERGRAPH_FILE: file }, waitUntilReady: false });
    try {
      for (const path of [
        '/api/tasks',
        '/api/tasks/stats',
        '/api/auth/me',
        '/reduced/api/tasks',
        '/api/openapi.json',
        '/api/docs',
      ]) {
        const response = await fetch(`${rest.origin}${path}`);
        expect([path, response.status]).toEqual([path, 404]);
        expect(await response.json()).toEqual({ message: expect.any(String), error: { code: 'NOT_FOUND' } });
      }
    } finally {
      await rest.stop();
      await rm(folder, { recursive: true });
    }
  });
});
