import { serverAudits } from 'graphql-http';
import { fetchGraphQL, postGraphQL, sha256, startTestGateway, USER } from './fakes/gateway.ts';

const gateway = await startTestGateway();
const token = await gateway.auth.token(USER);

const ACCEPTS = [
  'application/json',
  'text/event-stream',
  'multipart/mixed;subscriptionSpec=1.0',
  'application/json, text/event-stream',
];

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gateway.origin}${path}`, { headers });
const codesOf = (body: { errors?: { extensions: Record<string, unknown> }[] }) =>
  body.errors?.map(({ extensions }) => extensions.code);

describe('the audits of GraphQL over HTTP', () => {
  const audits = serverAudits({ url: () => `${gateway.origin}/graphql`, fetchFn: fetch });

  it('are complete', () => expect(audits).toHaveLength(61));

  it.each(audits)('$id $name', async ({ fn }) => expect(await fn()).toMatchObject({ status: 'ok' }));
});

describe('a request by GET', () => {
  it('reads its parameters as forms encode them, in UTF-8', async () => {
    const query = '{ task(id: "Küche + 100 %") { id } }';
    const sha256Hash = sha256(query); // must match the decoded query, or the request is refused
    const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash } });
    const search = new URLSearchParams({ query, extensions });
    const found = await get(`/graphql?${search}`, { authorization: `Bearer ${token}` });
    expect(await found.json()).toEqual({ data: { task: null } });
  });

  it('treats an empty operationName as absent', async () => {
    for (const accept of ACCEPTS) {
      const search = '?query=query%20Named{__typename}&operationName=';
      const response = await get(`/graphql${search}`, { accept, authorization: `Bearer ${token}` });
      expect(await response.text()).toContain('{"data":{"__typename":"Query"}}');
    }
    const several = await get('/graphql?query=query%20A{__typename}%20query%20B{__typename}&operationName=');
    expect(codesOf((await several.json()) as never)).toEqual(['OPERATION_RESOLUTION_FAILURE']);
  });

  it.each([
    ['{__typename}', '*/*'],
    ['{nothing}', '*/*'],
    ['{nothing}', 'application/graphql-response+json'],
    ['{__typename}', 'text/csv'],
  ])('responds to HEAD as to GET, without a body: %s for %s', async (query, accept) => {
    const path = `/graphql?query=${query}`;
    const head = await fetch(`${gateway.origin}${path}`, { method: 'HEAD', headers: { accept } });
    const { status, headers } = await get(path, { accept });
    const type = headers.get('content-type');
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([status, type, '']);
  });
});

describe('a body', () => {
  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16'])(
    'of type %s is refused',
    async (type) => {
      const response = await fetchGraphQL(gateway.origin, { query: '{__typename}' }, { 'content-type': type });
      expect(response.status).toBe(415);
      expect(codesOf((await response.json()) as never)).toEqual(['UNSUPPORTED_MEDIA_TYPE']);
    },
  );

  it('may use __proto__ as an alias or a variable, without side effects', async () => {
    const query =
      'query Q($__proto__: Int) { __proto__: tasks(first: $__proto__) { edges { cursor } } constructor: __typename }';
    const body = `{"query":${JSON.stringify(query)},"variables":{"__proto__":1}}`;
    expect(JSON.stringify((await postGraphQL(gateway.origin, body, { authorization: `Bearer ${token}` })).body)).toBe(
      `{"data":{"__proto__":{"edges":[{"cursor":"${USER}-task-1"}]},"constructor":"Query"}}`,
    );
    expect(({} as Record<string, unknown>)['edges']).toBeUndefined();
  });
});

describe('an invalid request reports what is wrong and where', () => {
  type Refusal = { errors: { extensions: { code: string; issues: { path: string }[] } }[] };
  const issuesOf = (body: unknown) =>
    (body as Refusal).errors.map(({ extensions: { code, issues } }) => [code, issues.map(({ path }) => path)]);

  it.each<[unknown, string[]]>([
    ['', ['']],
    [[{ query: '{__typename}' }], ['']],
    [{ query: '' }, ['query']],
    ['{"query":"{__typename}","variables":9007199254740993}', ['variables']],
    [{ query: { toString: 1 } }, ['query']],
    [
      { query: '{__typename}', variables: 'x', operationName: 5, extensions: [] },
      ['operationName', 'variables', 'extensions'],
    ],
    [{ extensions: { persistedQuery: { version: 2, sha256Hash: 'x' } } }, ['extensions.persistedQuery.version']],
    [{ extensions: { persistedQuery: { version: 1 } } }, ['extensions.persistedQuery.sha256Hash']],
  ])('by POST: %j', async (body, paths) => {
    for (const accept of ACCEPTS) {
      const response = await postGraphQL(gateway.origin, body, { accept, authorization: `Bearer ${token}` });
      expect(response.status).toBe(400);
      expect(issuesOf(response.body)).toEqual([['BAD_USER_INPUT', paths]]);
    }
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['?query={__typename}&query={a}', {}, ['query']],
    ['?query={__typename}&variables={', {}, ['variables']],
    [`?query={__typename}&variables={"a":${'['.repeat(32)}${']'.repeat(32)}}`, {}, ['variables']],
    [`?query={__typename}&extensions={"a":${'['.repeat(33)}${']'.repeat(33)}}`, {}, ['extensions']],
    ['?query={__typename}&%71uery={a}', {}, ['query']],
    ['?query={__typename%ff}', {}, ['']],
    ['?query={__typename}&variables={"category":"%ed%a0%80"}', {}, ['']],
    ['?query={__typename}&operationName=%', {}, ['']],
    ['?query={__typename}', { origin: 'https://evil.example' }, ['']],
  ])('by GET: %s %j', async (search, headers, paths) => {
    for (const accept of ACCEPTS) {
      const response = await get(`/graphql${search}`, { accept, authorization: `Bearer ${token}`, ...headers });
      expect(response.status).toBe(400);
      expect(issuesOf(await response.json())).toEqual([['BAD_USER_INPUT', paths]]);
    }
  });

  it.each(ACCEPTS)('a mutation by GET for %s', async (accept) => {
    const search = new URLSearchParams({ query: 'mutation { deleteTask(id: "1") }' });
    const response = await get(`/graphql?${search}`, { accept, authorization: `Bearer ${token}` });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(issuesOf(await response.json())).toEqual([['BAD_USER_INPUT', ['query']]]);
  });

  it.each([
    'application/graphql-response+json;v=2, application/json;q=0',
    'application/json; charset=iso-8859-1',
    'text/event-stream;q=0',
    'multipart/mixed;deferSpec=20220824',
    'nonsense',
  ])('is refused with 406 and has no effect if no acceptable type can carry its response: %s', async (accept) => {
    const before = gateway.tasks.calls.length;
    for (const query of ['mutation { createTask(input: { title: "x" }) { id } }', 'mutation { logout }']) {
      const response = await postGraphQL(gateway.origin, { query }, { accept, authorization: `Bearer ${token}` });
      expect([response.status, response.body.data]).toEqual([406, undefined]);
      expect(issuesOf(response.body)).toEqual([['BAD_USER_INPUT', ['']]]);
    }
    expect(gateway.tasks.calls).toHaveLength(before);
    const { body } = await gateway.graphql('{ taskStatistics { total } }', { token }); // not logged out
    expect(body).toEqual({ data: { taskStatistics: { total: 2 } } });
  });
});

/** The Accept header that urql sends with every query and mutation. */
const ANY_RESPONSE =
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed';
/** The Accept header that Apollo Client sends with subscriptions. */
const MULTIPART_OR_JSON = 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0",application/json';

it.each<[accept: string, type: string, status: number]>([
  ['application/json, application/graphql-response+json;q=0.9', 'application/json', 200],
  ['application/graphql-response+json, application/json', 'application/graphql-response+json', 400],
  ['Application/GraphQL-Response+JSON', 'application/graphql-response+json', 400],
  ['', 'application/json', 200],
  ['application/json;v=2, application/json;q=0.1', 'application/json', 200],
  ['application/json;q=0, */*', 'application/graphql-response+json', 400],
  ['application/graphql-response+json;q=0, */*', 'application/json', 200],
  ['text/event-stream;v=2, application/json;q=0.1', 'application/json', 200],
  ['application/graphql-response+json, text/event-stream', 'application/graphql-response+json', 400],
  ['application/json, multipart/mixed;subscriptionSpec=1.0, text/event-stream;q=0.1', 'application/json', 200],
])('the status of a request that cannot run depends on the type of the response: %s', async (accept, type, status) => {
  for (const query of [
    '{',
    '{ nothing }',
    'query A { __typename } query B { __typename }',
    'query ($n: Int!) { tasks(first: $n) { totalCount } }',
  ]) {
    const response = await fetchGraphQL(gateway.origin, { query }, { accept });
    await response.body?.cancel();
    const seen = [query, response.status, response.headers.get('content-type')?.split(';')[0]];
    expect(seen).toEqual([query, status, type]);
  }
});

describe('a client that accepts JSON and streams', () => {
  const LOGIN =
    'mutation { login(input: { email: "a0000000-0000-4000-8000-000000000001", password: "right password" }) { expiresIn } }';
  const request = (accept: string, query: string, authorization?: string) =>
    fetchGraphQL(gateway.origin, { query }, { accept, ...(authorization && { authorization }) });

  it.each([ANY_RESPONSE, MULTIPART_OR_JSON, 'text/event-stream, */*', 'text/event-stream, application/*'])(
    'signs in without a token, or with a stale one: %s',
    async (accept) => {
      for (const authorization of [undefined, 'Bearer stale']) {
        const response = await request(accept, LOGIN, authorization);
        expect(response.headers.get('content-type')).toMatch(/^application\/(?:graphql-response\+)?json/);
        expect([response.status, await response.json()]).toEqual([200, { data: { login: { expiresIn: 3_600 } } }]);
      }
    },
  );

  it('gets results as JSON, and subscriptions as a stream, in any order of requests', async () => {
    const types = { [ANY_RESPONSE]: 'text/event-stream', [MULTIPART_OR_JSON]: 'multipart/mixed' };
    for (const [accept, type] of Object.entries(types))
      for (let times = 0; times < 2; times++) {
        const result = await request(accept, '{ taskStatistics { total } }', `Bearer ${token}`);
        expect(await result.json()).toEqual({ data: { taskStatistics: { total: 2 } } });
        const stream = await request(accept, 'subscription { taskChanges { cursor } }', `Bearer ${token}`);
        expect([stream.status, stream.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
        await stream.body?.cancel();
        const refused = await request(accept, 'subscription { taskChanges { cursor } }');
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        await refused.body?.cancel();
        const faulty = await request(accept, 'subscription { nothing }', `Bearer ${token}`);
        expect([faulty.status, codesOf((await faulty.json()) as never)]).toEqual([400, ['GRAPHQL_VALIDATION_FAILED']]);
      }
  });

  it('gets the type that it prefers', async () => {
    for (const [accept, type] of [
      ['application/json;q=0.5, text/event-stream', 'text/event-stream'],
      ['text/event-stream, */*, application/json;q=0', 'text/event-stream'],
      ['application/json, Text/Event-Stream; Q=0.9', 'application/json'],
      ['application/json;v=2, text/event-stream', 'text/event-stream'],
      ['multipart/mixed; boundary="-"; subscriptionSpec=1.0', 'multipart/mixed'],
    ] as const) {
      const response = await request(accept, '{ __typename }', `Bearer ${token}`);
      await response.body?.cancel();
      expect([accept, response.headers.get('content-type')?.split(';')[0]]).toEqual([accept, type]);
    }
  });
});

it('a subscription by POST is refused with the list of supported transports', async () => {
  const { status, body } = await gateway.graphql('subscription { taskChanges { cursor } }', { token });
  expect([status, body.errors?.[0]?.message]).toEqual([400, expect.stringContaining('graphql-ws')]);
});
