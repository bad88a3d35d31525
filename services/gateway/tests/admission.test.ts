import { createMemoryKeyValue } from '@taskmesh/key-value';
import { eventually } from '@taskmesh/testing';
import type { UncheckedRequest } from '../src/graphql/admission.ts';
import { sha256, startTestGateway, type TestGateway, useGateway, USER } from './fakes/gateway.ts';
import { connectGraphqlWs } from './fakes/streams.ts';

const SECRET = 'hunter2-Tr0ub4dor';

interface Outcome {
  data?: unknown;
  errors?: { code: unknown; message: string; issues?: unknown }[];
}

interface Message {
  data?: unknown;
  errors?: { message: string; extensions: { code: string; issues?: unknown } }[];
}

type Send = (gateway: TestGateway, sent: UncheckedRequest) => Promise<Outcome>;

function outcomeOf({ data, errors }: Message): Outcome {
  return {
    ...(data !== undefined && { data }),
    ...(errors && {
      errors: errors.map(({ message, extensions: { code, issues } }) => ({
        code,
        message,
        ...(issues ? { issues } : {}),
      })),
    }),
  };
}

async function fetched(gateway: TestGateway, method: 'GET' | 'POST', sent: UncheckedRequest, accept: string) {
  const search = new URLSearchParams(
    Object.entries(sent).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  const response = await fetch(`${gateway.origin}/graphql${method === 'GET' ? `?${search}` : ''}`, {
    method,
    headers: {
      accept,
      authorization: `Bearer ${await gateway.auth.token(USER)}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
    ...(method === 'POST' && { body: JSON.stringify(sent) }),
  });
  const text = await response.text();
  // Either a stream with one result, or a refusal in plain JSON.
  const json = /\{"(?:data|errors|payload)".*\}/.exec(text)?.[0] ?? text;
  const message = JSON.parse(json) as Message & { payload?: Message };
  return outcomeOf(message.payload ?? message);
}

const overHttp =
  (method: 'GET' | 'POST', accept: string): Send =>
  (gateway, sent) =>
    fetched(gateway, method, sent, accept);

const overSocket: Send = async (gateway, sent) => {
  const client = await connectGraphqlWs(gateway.origin, await gateway.auth.token(USER));
  client.send({ id: '1', type: 'subscribe', payload: { query: '', ...sent } });
  await eventually(() => expect([client.of('1')[0]?.type, client.closed]).not.toEqual([undefined, undefined]));
  expect(client.closed).toBeUndefined();
  client.socket.close();
  const { type, payload } = client.of('1')[0] ?? {};
  return outcomeOf((type === 'error' ? { errors: payload } : payload) as Message);
};

const SSE = 'text/event-stream';
const MULTIPART = 'multipart/mixed;subscriptionSpec=1.0, application/json';
const TRANSPORTS: Record<string, Send> = {
  POST: overHttp('POST', 'application/json'),
  'POST for graphql-response': overHttp('POST', 'application/graphql-response+json'),
  GET: overHttp('GET', 'application/json'),
  SSE: overHttp('POST', SSE),
  'SSE by GET': overHttp('GET', SSE),
  multipart: overHttp('POST', MULTIPART),
  'multipart by GET': overHttp('GET', MULTIPART),
  'graphql-ws': overSocket,
};

const persisted = (hash: string) => ({ persistedQuery: { version: 1, sha256Hash: hash } });
const refused = (code: string, message: unknown = expect.any(String)): Outcome => ({
  errors: [{ code, message: message as string }],
});
const badInput = (...issues: { path: string; message: string }[]): Outcome => ({
  errors: [{ code: 'BAD_USER_INPUT', message: issues.map(({ message }) => message).join(' '), issues }],
});

const PAGES = `me { tasks(first: $n) { edges { node { owner { tasks(first: $n) { edges { cursor } } } } } } }`;

/** What is sent, and its outcome on every transport. */
const CASES: Record<string, [sent: UncheckedRequest, outcome: Outcome]> = {
  'a query': [{ query: '{ taskStatistics { total } }' }, { data: { taskStatistics: { total: 2 } } }],
  'one of two operations': [
    { query: 'query A { taskStatistics { total } } query B { __typename }', operationName: 'B' },
    { data: { __typename: 'Query' } },
  ],
  'a variable and a default': [
    {
      query:
        'query ($a: Boolean!, $b: Boolean! = false) { a: __typename @include(if: $a) b: __typename @include(if: $b) }',
      variables: { a: true },
    },
    { data: { a: 'Query' } },
  ],
  'a syntax error': [
    { query: `{ task(id: "${SECRET}" "${SECRET}") { id } }` },
    refused('GRAPHQL_PARSE_FAILED', 'Syntax Error: Expected Name, found String.'),
  ],
  'too many tokens': [
    { query: `{ ${'a '.repeat(4_000)} }` },
    refused('GRAPHQL_PARSE_FAILED', 'Syntax Error: Document contains more than 4000 tokens.'),
  ],
  'an unknown field': [
    { query: '{ nothing }' },
    refused('GRAPHQL_VALIDATION_FAILED', 'Cannot query field "nothing" on type "Query".'),
  ],
  'a literal of another type': [
    { query: `{ tasks(first: "${SECRET}") { totalCount } }` },
    refused('GRAPHQL_VALIDATION_FAILED', 'Expected a value of type "Int".'),
  ],
  'a value that an enum does not have': [
    { query: '{ tasks(orderBy: { field: TITLE }) { totalCount } }' },
    refused(
      'GRAPHQL_VALIDATION_FAILED',
      'Expected a value of type "TaskOrderField!": one of CREATED_AT, UPDATED_AT, DUE_DATE, PRIORITY.',
    ),
  ],
  'too many levels': [
    { query: `{ me { ${'tasks(first: 1) { edges { node { owner { '.repeat(3)} id ${'} '.repeat(14)}` },
    refused('GRAPHQL_VALIDATION_FAILED', 'The operation is nested too deeply.'),
  ],
  'too many aliases': [
    { query: `{ ${Array.from({ length: 31 }, (_, index) => `a${index}: __typename`).join(' ')} }` },
    refused('GRAPHQL_VALIDATION_FAILED', 'The operation has too many aliases.'),
  ],
  'too high a cost': [
    { query: `query ($n: Int) { ${PAGES} }`, variables: { n: 1_000 } },
    refused('GRAPHQL_VALIDATION_FAILED', 'The operation requests too much at once.'),
  ],
  'an operation that is not there': [
    { query: 'query A { __typename } query B { __typename }', operationName: 'C' },
    refused('OPERATION_RESOLUTION_FAILURE', 'There is no such operation in the document.'),
  ],
  'no document': [{ variables: {} }, badInput({ path: 'query', message: 'query is required.' })],
  'a persisted query that is not known': [
    { extensions: persisted('0'.repeat(64)) },
    refused('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'),
  ],
  'a document that is not known': [
    { documentId: '0'.repeat(64) },
    refused('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'),
  ],
  'a persisted query of another text': [
    { query: '{ __typename }', extensions: persisted('0'.repeat(64)) },
    badInput({
      path: 'extensions.persistedQuery.sha256Hash',
      message: 'extensions.persistedQuery.sha256Hash must be the SHA-256 of query.',
    }),
  ],
  'variables of other types': [
    {
      query:
        'query ($f: TaskFilter, $n: Int!, $o: Int!, $x: ID!) { tasks(filter: $f, first: $n, offset: $o) { totalCount } task(id: $x) { id } }',
      variables: { f: { completed: SECRET, priority: SECRET, other: SECRET }, n: SECRET, o: null },
    },
    badInput(
      { path: 'f.completed', message: 'f.completed must be of type Boolean.' },
      { path: 'f.priority', message: 'f.priority must be one of LOW, MEDIUM, HIGH.' },
      { path: 'f.other', message: 'f.other is not a field of TaskFilter.' },
      { path: 'n', message: 'n must be of type Int.' },
      { path: 'o', message: 'o must not be null.' },
      { path: 'x', message: 'x is required.' },
    ),
  ],
  'null for variables that only a default lets stand where they are': [
    {
      query: `query ($s: Boolean = true, $d: OrderDirection) { tasks(orderBy: { direction: $d }) { ...F } }
        fragment F on TaskConnection { totalCount @skip(if: $s) }`,
      variables: { s: null, d: null },
    },
    badInput({ path: 's', message: 's must not be null.' }, { path: 'd', message: 'd must not be null.' }),
  ],
  'a variable in place of an object': [
    { query: 'query ($f: TaskFilter) { tasks(filter: $f) { totalCount } }', variables: { f: SECRET } },
    badInput({ path: 'f', message: 'f must be an object.' }),
  ],
  'a subscription with @include': [
    {
      query: 'subscription ($s: Boolean!) { taskChanges @include(if: $s) { cursor } }',
      variables: { s: true },
    },
    refused(
      'GRAPHQL_VALIDATION_FAILED',
      'At its top level, a subscription must not use @skip or @include with variables.',
    ),
  ],
};

describe('an operation has the same outcome', () => {
  const gateway = useGateway();

  describe.each(Object.entries(TRANSPORTS))('over %s', (_, send) => {
    it.each(Object.entries(CASES))('%s', async (_name, [sent, outcome]) => {
      expect(await send(gateway, sent)).toEqual(outcome);
    });
  });

  it('over every transport if it was persisted over another', async () => {
    const transports = Object.values(TRANSPORTS);
    for (const [index, send] of transports.entries()) {
      const query = `query Q${index} { taskStatistics { total } }`;
      const outcome = { data: { taskStatistics: { total: 2 } } };
      const extensions = persisted(sha256(query));
      expect(await send(gateway, { query, extensions })).toEqual(outcome);
      const next = transports[(index + 1) % transports.length];
      expect(await next?.(gateway, { extensions })).toEqual(outcome);
    }
  });
});

it('a text sent with the hash of a trusted document is not kept under that hash', async () => {
  const trusted = '{ taskStatistics { total } }';
  const keyValue = createMemoryKeyValue();
  const files = { TRUSTED_DOCUMENTS_FILE: JSON.stringify({ [sha256(trusted)]: trusted }) };
  const gateway = await startTestGateway({ env: { TRUSTED_DOCUMENTS: 'allow' }, files, keyValue });
  const extensions = persisted(sha256(trusted));
  const beside = { query: '{ __typename }', extensions };
  expect(await TRANSPORTS['POST']?.(gateway, beside)).toEqual({ data: { taskStatistics: { total: 2 } } });
  // A matching text is kept even after that.
  const good = '{ __typename }';
  await TRANSPORTS['POST']?.(gateway, { query: good, extensions: persisted(sha256(good)) });
  await eventually(async () => (await keyValue.get(`apq:${sha256(good)}`)) === good);
  expect(await keyValue.get(`apq:${sha256(trusted)}`)).toBeNull();
});

/** The error code of an operation at a gateway with these settings. */
async function answersOf(queries: string[], env: Record<string, string> = {}) {
  const gateway = await startTestGateway({ env });
  const token = await gateway.auth.token(USER);
  const answers = await Promise.all(queries.map((query) => gateway.graphql(query, { token })));
  return answers.map(({ body }) => body.errors?.[0]?.extensions.code);
}

const filled = (filler: string, times: number) => `{ __typename }${filler.repeat(times)}`;
const costly = (outer: number, inner: number) =>
  `{ me { tasks(first: ${outer}) { edges { node { owner { tasks(first: ${inner}) { edges { cursor } } } } } } } }`;

/** Renames copy nothing that is long. */
const RENAMED = '{ tasks(first: 1000) { edges { node { taskId: id isDone: completed } } } }';

/** 155 of the longest descriptions, 31 times each, have 57 MB as JSON. */
const copies = (page: number) => {
  const aliases = Array.from({ length: 30 }, (_, index) => `a${index}: description`).join(' ');
  return `{ tasks(first: ${page}) { edges { node { description ${aliases} } } } }`;
};

it('a document may have 128,000 characters and 10,000 lines, with any content, and may cost 5,000', async () => {
  const within = [filled('#', 127_986), filled('\r\n', 9_999), costly(30, 30), copies(30), RENAMED];
  const beyond = [filled('#', 127_987), filled('\r\n', 10_000), costly(1_000, 1), copies(155)];
  expect(await answersOf(within)).toEqual(within.map(() => undefined));
  expect(await answersOf(beyond)).toEqual([
    'GRAPHQL_PARSE_FAILED',
    'GRAPHQL_PARSE_FAILED',
    'GRAPHQL_VALIDATION_FAILED',
    'GRAPHQL_VALIDATION_FAILED',
  ]);
});

it('limits that are set to 0 are disabled', async () => {
  const names = ['DEPTH', 'ALIASES', 'TOKENS', 'COST'];
  const off = Object.fromEntries(names.map((name) => [`GRAPHQL_MAX_${name}`, '0']));
  expect(await answersOf([filled('\n', 128_001), costly(1_000, 1_000)], off)).toEqual([undefined, undefined]);
});

it('trusted documents must match their hashes', async () => {
  const files = { TRUSTED_DOCUMENTS_FILE: JSON.stringify({ ['0'.repeat(64)]: '{ __typename }' }) };
  await expect(startTestGateway({ env: { TRUSTED_DOCUMENTS: 'only' }, files })).rejects.toThrow(
    'TRUSTED_DOCUMENTS_FILE',
  );
});
