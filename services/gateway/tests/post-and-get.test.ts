import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startTestGateway({ mode: 'http' });
  token = await gateway.auth.token(USER);
});
afterAll(() => gateway.stop());

interface Sent {
  method?: string;
  search?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

interface Answer {
  status: number | undefined;
  headers: string[];
  body: string;
}

/** All of an answer but the ids of requests, the time, and the connection's own headers. */
async function send({ method = 'POST', search = '', headers = {}, body }: Sent): Promise<Answer> {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(`${gateway.origin}/graphql${search}`, { method, headers }, (answer) => {
    const chunks: Buffer[] = [];
    answer
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () =>
        resolve({
          status: answer.statusCode,
          headers: answer.rawHeaders.map((each, index, all) =>
            /^date$/i.test(all[index - 1] ?? '') ? '' : each.replace(UUID, 'id'),
          ),
          body: Buffer.concat(chunks).toString('latin1').replace(UUID, 'id'),
        }),
      );
  });
  sent.on('error', reject).end(text);
  return promise;
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const byHash = (query: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(query) } });

const FRAGMENTS = `query All($skip: Boolean = false) {
  me { ...Person again: name @skip(if: $skip) }
  tasks(first: 2) { edges { node { ...on Task { id title owner { ...Person } } __typename } } totalCount }
} fragment Person on User { id name __typename }`;

/** Requests of all kinds: some run, some are refused at every step on the way. */
const BODIES: Record<string, unknown> = {
  'one service': { query: '{ taskStatistics { total completed } }' },
  'several services': { query: '{ tasks(first: 2) { edges { node { id owner { id name email } } } } me { name } }' },
  aliases: { query: '{ a: taskStatistics { b: total } c: taskStatistics { d: total } }' },
  fragments: { query: FRAGMENTS },
  'fragments that are skipped': { query: FRAGMENTS, variables: { skip: true } },
  'nothing of a service': { query: '{ __typename }' },
  introspection: { query: '{ __schema { queryType { name } } __type(name: "Task") { kind fields { name } } }' },
  'an operation by name': { query: 'query A { a: __typename } query B { b: __typename }', operationName: 'B' },
  variables: {
    query: 'query($id: ID!) { task(id: $id) { id } }',
    variables: { id: '00000000-0000-7000-8000-000000000000' },
  },
  'a change': { query: 'mutation { logout }' },
  'a change that fails': { query: 'mutation { deleteTask(id: "00000000-0000-7000-8000-000000000000") }' },
  'changes of which one fails': {
    query:
      'mutation { a: requestPasswordReset(email: "a@b.example") b: deleteTask(id: "00000000-0000-7000-8000-000000000000") }',
  },
  'a change with a wrong password': {
    query: 'mutation { login(input: { email: "a@b.example", password: "x" }) { accessToken } }',
  },
  'what is for operators': { query: '{ backups { file } }' },
  'what is for operators, beside other things': { query: '{ undoableRestore { file } me { name } }' },
  'a syntax error': { query: '{ task(' },
  'an unknown field': { query: '{ nothing }' },
  'no operation of that name': { query: '{ __typename }', operationName: 'X' },
  'several operations': { query: 'query A { __typename } query B { __typename }' },
  'an absent variable': { query: 'query($id: ID!) { task(id: $id) { id } }' },
  'a wrong variable': { query: 'query($n: Int) { tasks(first: $n) { totalCount } }', variables: { n: 'x' } },
  'too much at once': {
    query: '{ tasks(first: 1000) { edges { node { owner { tasks(first: 1000) { totalCount edges { cursor } } } } } } }',
  },
  'too deep': {
    query: `{ me { tasks { edges { node { owner { ${'tasks { edges { node { owner {'.repeat(4)} id ${'} } } }'.repeat(4)} } } } } } }`,
  },
  'too many aliases': { query: `{ ${Array.from({ length: 31 }, (_, index) => `a${index}: __typename`).join(' ')} }` },
  'a subscription': { query: 'subscription { taskChanges { cursor } }' },
  'incremental delivery': { query: '{ me { ... @defer { name } } }' },
  'a document by an unknown hash': { extensions: byHash('{ unknown: __typename }') },
  'a document with its hash': { query: '{ hashed: __typename }', extensions: byHash('{ hashed: __typename }') },
  'a document by its hash': { extensions: byHash('{ hashed: __typename }') },
  'a document with another hash': { query: '{ other: __typename }', extensions: byHash('{ hashed: __typename }') },
  'a batch': [{ query: '{ __typename }' }],
  'no query': {},
  'no JSON': '{ broken',
  'no object': '"text"',
  'forms that are wrong': { query: 5, variables: [], extensions: 'x', operationName: {} },
  'values that are not ASCII': { query: '{ "ä": 1 }', variables: { ü: '\ud83d\ude00' } },
  'a key of every object': { query: '{ __proto__: __typename constructor: __typename }' },
};

describe.each([true, false])('whether a request comes by POST or by GET (signed in: %s)', (isUser) => {
  const authorization = (): Record<string, string> => (isUser ? { authorization: `Bearer ${token}` } : {});
  const json = { 'content-type': 'application/json' };

  it.each(Object.keys(BODIES))('%s by GET has the same status and body, and none for HEAD', async (what) => {
    const body = BODIES[what];
    if (typeof body !== 'object' || Array.isArray(body) || /change|forms/.test(what)) return;
    const given = Object.entries(body as object).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const search = `?${String(new URLSearchParams(given))}`;
    for (const accept of ['*/*', 'application/graphql-response+json', 'text/csv']) {
      const headers = { ...authorization(), accept };
      const { status, body: text } = await send({ headers: { ...headers, ...json }, body });
      expect(await send({ method: 'GET', search, headers })).toMatchObject({ status, body: text });
      expect(await send({ method: 'HEAD', search, headers })).toMatchObject({ status, body: '' });
    }
  });
});

it('a request without Accept is answered as the first one was', async () => {
  const body = { query: '{ __typename }' };
  const headers = { 'content-type': 'application/json' };
  const first = await send({ headers, body });
  expect(first).toMatchObject({ status: 200, body: '{"data":{"__typename":"Query"}}\n' });
  expect(await send({ headers, body })).toEqual(first);
});
