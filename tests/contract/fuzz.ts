import type { ApiDescription, JsonSchema } from '@taskmesh/testing/api-description';
import fc from 'fast-check';
import { type Account, clientOf, type Platform, snapshotOf } from './client.ts';

/** One request, drawn from the API description and from values outside of it. */
interface Draw {
  operationId: string;
  id: string;
  token: 'own' | 'none' | 'bad';
  query: [string, string][];
  headers: Record<string, string>;
  /** Undefined if no body is sent. */
  body: string | undefined;
}

/** Keeps headers below Node's limit of 16 KiB, above which no request reaches an operation. Another test covers the 431. */
const MAX_SEARCH_CHARS = 8_000;

const HEADERS = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>[]>(
      { 'content-type': 'text/plain' },
      { 'if-match': '"1"' },
      { 'if-match': 'x' },
      { 'idempotency-key': 'k' },
      { 'x-http-method-override': 'DELETE' },
      { 'content-encoding': 'gzip' },
    ),
  },
);
const NASTY = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u200b',
  '😀',
  '__proto__',
  "'; drop table tasks; --",
  '${jndi:ldap://x}',
  '\r\nX-Injected: 1',
  'null',
  'true',
  '-0',
  '1e400',
  '2026-02-30T00:00:00Z',
  'x'.repeat(256),
  'x'.repeat(2_001),
  '😀'.repeat(256),
);
const ANYTHING = fc.oneof(
  NASTY,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.constant(null),
  fc.bigInt().map(Number),
);

/** Ids that would make another path: HTTP clients resolve dots themselves, and `stats` is not a task. */
const OTHER_PATHS = new Set(['.', '..', 'stats']);

/** Draws values for a schema: allowed ones, edge cases and invalid ones. */
function valuesOf(schema: JsonSchema, all: Record<string, JsonSchema>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: allowedBy(schema, all) }, { weight: 2, arbitrary: ANYTHING });
}

function allowedBy(schema: JsonSchema, all: Record<string, JsonSchema>): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return allowedBy(all[schema.$ref.split('/').at(-1) ?? ''] ?? {}, all);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((option) => allowedBy(option, all)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.properties) return objectsOf(schema, all);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'integer' || type === 'number')
    return fc.integer({ min: Math.max(schema.minimum ?? -10, -10), max: Math.min(schema.maximum ?? 2_000, 2_000) });
  return type === 'string' ? textsOf(schema) : ANYTHING;
}

function textsOf({ format, minLength = 0, maxLength = 300 }: JsonSchema): fc.Arbitrary<unknown> {
  if (format === 'date-time')
    return fc
      .date({ noInvalidDate: true, min: new Date('0001-01-02'), max: new Date('9999-12-30') })
      .map((date) => date.toISOString());
  const edges = [minLength - 1, minLength, maxLength, maxLength + 1].filter((length) => length >= 0 && length <= 3_000);
  return fc.oneof(
    { weight: 2, arbitrary: fc.uuid().map((id) => `${id}@example.com`) },
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) }) },
    { weight: 1, arbitrary: fc.constantFrom(...edges).map((length) => '😀'.repeat(length)) },
  );
}

function objectsOf({ properties = {} }: JsonSchema, all: Record<string, JsonSchema>): fc.Arbitrary<unknown> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, all)])),
    { requiredKeys: [] },
  );
  const unknown = fc.dictionary(fc.oneof(NASTY, fc.string()), ANYTHING, { maxKeys: 2 });
  return fc.oneof(
    { weight: 3, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(unknown, known).map(([more, fields]) => ({ ...more, ...fields })) },
  );
}

function drawsOf({ paths, components }: ApiDescription, ids: readonly string[]) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const drawOf = ({ operation }: (typeof operations)[number]): fc.Arbitrary<Draw> => {
    const schema = operation.requestBody?.content['application/json']?.schema;
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const pairs = parameters.map(({ name, schema: each }) =>
      valuesOf(each, components.schemas).map((value): [string, string] => [
        name,
        typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
      ]),
    );
    return fc.record({
      operationId: fc.constant(operation.operationId),
      id: fc.oneof(fc.constantFrom(...ids), NASTY, fc.uuid(), fc.string()).filter((id) => !OTHER_PATHS.has(id)),
      token: fc.oneof(
        { weight: 8, arbitrary: fc.constant<Draw['token']>('own') },
        { weight: 1, arbitrary: fc.constantFrom<Draw['token']>('none', 'bad') },
      ),
      query:
        pairs.length === 0
          ? fc.constant([])
          : fc.array(fc.oneof(...pairs), { maxLength: 4 }).filter((query) => searchOf(query).length < MAX_SEARCH_CHARS),
      headers: HEADERS,
      body: schema
        ? fc.oneof(
            { weight: 9, arbitrary: valuesOf(schema, components.schemas).map((value) => JSON.stringify(value)) },
            {
              weight: 1,
              arbitrary: fc.oneof(
                fc.string({ unit: 'binary' }),
                fc.json().map((text) => text.slice(1)),
              ),
            },
          )
        : fc.constant(undefined),
    });
  };
  return { operations, draws: fc.oneof(...operations.map(drawOf)) };
}

function searchOf(query: [name: string, value: string][]): string {
  return query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&');
}

/** Requests drawn from the API description must never fail the server, and refused ones must not change anything. */
export function describeFuzz(platform: () => Platform, { runs, seed }: { runs: number; seed: number }) {
  const client = clientOf(platform);

  it(
    `responds as documented and in time to ${runs} requests drawn from the API description, and refused ones leave no trace`,
    async () => {
      const { body: description } = await client.call<ApiDescription>('GET', '/api/openapi.json');
      const account: Account = await client.signUp();
      const ids: string[] = [];
      for (const title of ['one', 'two', 'three'])
        ids.push(
          (await client.call('POST', '/full/api/tasks', { token: account.token, json: { title } })).body.data.id,
        );
      const { operations, draws } = drawsOf(description, ids);
      const checked = new Set<string>();
      const tokens = { own: account.token, none: undefined, bad: `${account.token}x` };
      let stored = await snapshotOf(client, account);
      const seen = new Map<number, number>();

      await fc.assert(
        fc.asyncProperty(draws, async ({ operationId, id, token, query, headers, body }) => {
          const found = operations.find(({ operation }) => operation.operationId === operationId);
          if (!found) throw new Error(`there is no ${operationId}`);
          const { method, operation } = found;
          const path = found.path.replace(/\{\w+\}/, encodeURIComponent(id.toWellFormed()) || '%20');
          // The session must last, so logout gets a bad token; other tests cover a real logout.
          const bearer = operationId === 'logout' ? tokens.bad : tokens[token];
          const answer = await client.call(method, `${path}?${searchOf(query)}`, {
            token: bearer,
            headers,
            ...(body !== undefined && { raw: body }),
          });

          const { status } = answer;
          seen.set(status, (seen.get(status) ?? 0) + 1);
          expect(status).toBeLessThan(500);
          expect(Object.keys(operation.responses)).toContain(String(status));
          checked.add(`${operationId} ${status}`);
          const isForUsers =
            operation.security.length > 0 && operation.security.every((scheme) => 'accessToken' in scheme);
          if (isForUsers && bearer !== tokens.own) expect(status).toBe(401);
          if (method === 'GET') return; // a change by a GET would show after the next refused request
          const now = await snapshotOf(client, account);
          if (status >= 400) expect(now).toBe(stored);
          stored = now;
        }),
        { numRuns: runs, seed, endOnFailure: true },
      );
      expect(await snapshotOf(client, account)).toBe(stored);
      // The run drew both accepted and refused requests.
      for (const status of [200, 201, 400, 401, 404]) expect(seen.get(status)).toBeGreaterThan(0);
      for (const { operation } of operations) expect([...checked].join()).toContain(`${operation.operationId} `);
      // Operators' endpoints have one response for users; all others must have given more than two on average.
      const forUsers = operations.filter(
        ({ operation: { security, tags } }) =>
          !tags.includes('Operations') && !security.some((scheme) => 'backupToken' in scheme),
      );
      const answers = [...checked].filter((one) =>
        forUsers.some(({ operation }) => one.startsWith(`${operation.operationId} `)),
      );
      expect(answers.length).toBeGreaterThan(2 * forUsers.length);
    },
    60_000 + runs * 300,
  );
}
