import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { readVersion } from '@taskmesh/service';
import { parseJsonObject } from '../src/http/json-body.ts';
import type { OpenApiDocument } from '../src/rest/openapi/document.ts';
import { startTestGateway } from './fakes/gateway.ts';

const rest = await startTestGateway({ env: { PUBLIC_URL: 'https://tasks.example.com/' } });
const response = await fetch(`${rest.origin}/api/openapi.json`);
const document = (await response.json()) as OpenApiDocument;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

describe('the API description', () => {
  it('is OpenAPI 3.1, at the public address', () => {
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(document.openapi).toBe('3.1.0');
    const names = operations.map(({ operation }) => operation.operationId);
    expect(names).toEqual([...new Set(names)]);
    expect(document.info.version).toBe(readVersion());
    expect(document.servers).toEqual([{ url: 'https://tasks.example.com' }]);
    expect(document.components.securitySchemes).toEqual({
      accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      backupToken: { type: 'http', scheme: 'bearer', description: expect.any(String) },
    });
  });

  it('refers only to existing components, and to all of them', () => {
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

  it('lists 429 for each operation, for too many concurrent requests or too many attempts', () => {
    const without = operations.filter(({ operation }) => !('429' in operation.responses));
    expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('lists the headers of responses, and a password in the body instead of a session to confirm an address', () => {
    const headersOf = (path: string, method: string, status: string) =>
      Object.keys(
        (document.paths[path]?.[method]?.responses as Record<string, { headers?: object }>)[status]?.headers ?? {},
      );
    expect(headersOf('/api/tasks', 'post', '201')).toContain('ETag');
    expect(headersOf('/api/tasks', 'get', '200')).toContain('Link');
    expect(document.paths['/api/auth/confirm-email']?.post?.security).toEqual([{ accessToken: [] }, {}]);
  });

  it('has an example for each body, which fits its schema', () => {
    const ajv = new Ajv2020({ strict: false });
    (formats as unknown as (ajv: Ajv2020) => void)(ajv); // its types do not match the CommonJS default
    ajv.addSchema({ $id: 'api', components: document.components });
    const bodies = operations.flatMap(({ operation }) => operation.requestBody?.content['application/json'] ?? []);
    expect(bodies.length).toBeGreaterThan(15);
    for (const { schema, example } of bodies) {
      const fits = ajv.validate({ $ref: `api${schema.$ref}` }, example);
      expect([schema.$ref, example, fits && 'fits']).toEqual([schema.$ref, expect.any(Object), 'fits']);
    }
  });

  it('lists the required fields of each body, and a request without them gets their names', async () => {
    const authorization = `Bearer ${rest.token}`;
    const lacking = operations.flatMap(({ path, method, operation }) => {
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
      expect([path, response.status, error.details.map(({ message }) => message)]).toEqual([path, 400, expected]);
    }
  });

  it('has no defaults in bodies, because generated clients would require the fields', () => {
    const bodies = operations.flatMap(({ operation }) =>
      Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema.$ref?.split('/').at(-1) ?? ''),
    );
    const texts = [...new Set(bodies)].map((name) => JSON.stringify(document.components.schemas[name] ?? {}));
    expect(texts.length).toBeGreaterThan(8);
    for (const text of texts) expect(text).not.toContain('"default"');
  });

  it('has the limits of each string in a body', () => {
    const { schemas } = document.components;
    const password = { minLength: 8, maxLength: 128 };
    const signUp = { email: { maxLength: 254, format: 'email' }, password, name: { minLength: 1, maxLength: 255 } };
    expect(schemas).toMatchObject({ SignUp: { properties: signUp }, ResetPassword: { properties: { password } } });
    for (const body of ['SignUp', 'Login', 'ForgotPassword', 'ResetPassword', 'Refresh', 'TaskCreate', 'TaskUpdate'])
      for (const [name, property] of Object.entries(schemas[body]?.properties ?? {}))
        if ([property.type].flat().includes('string') && !property.enum)
          expect([name, property.maxLength ?? property.format]).toEqual([name, expect.anything()]);
  });

  it('suits client generators', () => {
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
    const split = (schema: object, good: unknown[], bad: unknown[]) =>
      expect([good.filter((each) => !fits(schema, each)), bad.filter((each) => fits(schema, each))]).toEqual([[], []]);
    split(key, ['a', 'a b', '~'.repeat(255)], ['', ' ', 'ä', 'a\t', '~'.repeat(256)]);
    split(parameter('/api/tasks/{id}', 'patch', 'If-Match'), ['*', '"1"', 'W/"1", "2"'], ['', '1', '"1', '*, "1"']);
    expect(parameter('/api/tasks', 'get', 'completed')).toEqual({ type: 'boolean' });
    expect(parameter('/api/backup/restore', 'post', 'file')).toMatchObject({ minLength: 1 });
    const choice = document.components.schemas.DeadLetterChoice ?? {};
    const most = { ids: Array.from({ length: Number(choice.properties?.ids?.maxItems) }, () => '1') };
    expect(() => parseJsonObject(Buffer.from(JSON.stringify(most)))).not.toThrow();
    split(choice, [most, { ids: ['1'] }, { all: true }], [{}, { ids: ['1'], all: true }, { one: '1' }]);
  });
});
