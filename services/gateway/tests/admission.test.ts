import { eventually } from '@taskmesh/testing';
import type { UncheckedRequest } from '../src/graphql/admission.ts';
import { fetchGraphQL, sha256, startTestGateway, type TestGateway, useGateway } from './fakes/gateway.ts';
import { connectGraphqlWs } from './fakes/streams.ts';

const SECRET = 'hunter2-Tr0ub4dor';

interface Outcome {
  data?: unknown;
  errors?: { message: string; extensions: { code: string; issues?: unknown } }[];
}

type Send = (gateway: TestGateway, sent: UncheckedRequest) => Promise<Outcome>;

const overHttp =
  (method: 'GET' | 'POST', accept: string): Send =>
  async ({ origin, token }, sent) => {
    const headers = { accept, authorization: `Bearer ${token}` };
    const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    const texts = Object.entries(sent).map(([name, value]): [string, string] => [name, textOf(value)]);
    const response = await (method === 'GET'
      ? fetch(`${origin}/graphql?${new URLSearchParams(texts)}`, { headers })
      : fetchGraphQL(origin, sent, headers));
    const text = await response.text();
    // Either a stream with one result, or a refusal in plain JSON.
    const json = /\{"(?:data|errors|payload)".*\}/.exec(text)?.[0] ?? text;
    const message = JSON.parse(json) as Outcome & { payload?: Outcome };
    return message.payload ?? message;
  };

const overSocket: Send = async ({ origin, token }, sent) => {
  const client = await connectGraphqlWs(origin, token);
  client.send({ id: '1', type: 'subscribe', payload: { query: '', ...sent } });
  await eventually(() => expect([client.of('1')[0]?.type, client.closed]).not.toEqual([undefined, undefined]));
  expect(client.closed).toBeUndefined();
  client.socket.close();
  const { type, payload } = client.of('1')[0] ?? {};
  return (type === 'error' ? { errors: payload } : payload) as Outcome;
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
const refused = (code: string, message: string, column?: number) => ({
  errors: [{ message, ...(column && { locations: [{ line: 1, column }] }), extensions: { code } }],
});
const badInput = (...issues: { path: string; message: string }[]): Outcome => ({
  errors: [{ message: issues.map(({ message }) => message).join(' '), extensions: { code: 'BAD_USER_INPUT', issues } }],
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
    refused('GRAPHQL_PARSE_FAILED', 'Syntax Error: Expected Name, found String.', 32),
  ],
  'an unknown field': [
    { query: '{ nothing }' },
    refused('GRAPHQL_VALIDATION_FAILED', 'Cannot query field "nothing" on type "Query".', 3),
  ],
  'too high a cost': [
    { query: `query ($n: Int) { ${PAGES} }`, variables: { n: 69 } }, // costs 5,039; with 68 it would be 4,898
    refused('GRAPHQL_VALIDATION_FAILED', 'The operation requests too much at once.'),
  ],
  'too many aliases': [
    { query: `{ ${Array.from({ length: 31 }, (_, at) => `a${at}: __typename`).join(' ')} }` },
    refused('GRAPHQL_VALIDATION_FAILED', 'The operation has too many aliases.'),
  ],
  'an unknown operation name': [
    { query: 'query A { __typename } query B { __typename }', operationName: 'C' },
    refused('OPERATION_RESOLUTION_FAILURE', 'There is no such operation in the document.'),
  ],
  'no document': [{ variables: {} }, badInput({ path: 'query', message: 'query is required.' })],
  'an unknown persisted query': [
    { extensions: persisted('0'.repeat(64)) },
    refused('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'),
  ],
  'a persisted query with the hash of another': [
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
  'a subscription with @include': [
    { query: 'subscription ($s: Boolean!) { taskChanges @include(if: $s) { cursor } }', variables: { s: true } },
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
      expect(await transports[(index + 1) % transports.length]?.(gateway, { extensions })).toEqual(outcome);
    }
  });
});

it('disables limits that are set to 0', async () => {
  const names = ['DEPTH', 'ALIASES', 'TOKENS', 'COST'];
  const env = Object.fromEntries(names.map((name) => [`GRAPHQL_MAX_${name}`, '0']));
  const { graphql, token } = await startTestGateway({ env });
  for (const query of [`{ __typename }${'\n'.repeat(128_001)}`, `{ ${PAGES.replaceAll('$n', '1000')} }`])
    expect((await graphql(query, { token })).body.errors).toBeUndefined();
});

it('does not start with trusted documents that do not match their hashes', async () => {
  const files = { TRUSTED_DOCUMENTS_FILE: JSON.stringify({ ['0'.repeat(64)]: '{ __typename }' }) };
  await expect(startTestGateway({ env: { TRUSTED_DOCUMENTS: 'only' }, files })).rejects.toThrow(
    'TRUSTED_DOCUMENTS_FILE',
  );
});
