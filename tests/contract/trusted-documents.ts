import { READ_SESSIONS, READ_TASKS } from '@taskmesh/client';
import { createHash } from 'node:crypto';
import { newEmail, PASSWORD, type GraphqlResponse } from '../http.ts';
import { openSocket } from '../feed/raw-socket.ts';
import { type Account, type CallOptions, clientOf, type Platform } from './client.ts';

const hashOf = (document: string) => createHash('sha256').update(document).digest('hex');

const STATISTICS = '{ taskStatistics { total } }';
const CREATE = 'mutation Create($input: CreateTaskInput!) { createTask(input: $input) { title } }';
/** The change feed, with a single field. */
export const CHANGES = 'subscription { taskChanges { kind } }';
/** Valid, but not in the manifest. */
const UNTRUSTED = '{ taskStatistics { pending } }';

/** The manifest for the platform of `describeTrustedDocuments`. */
export const MANIFEST = Object.fromEntries(
  [STATISTICS, CREATE, CHANGES].map((document) => [hashOf(document), document]),
);

type GraphqlBody = Partial<GraphqlResponse<Record<string, unknown>>>;

/** A platform that runs only the documents of its manifest, over every transport. */
export function describeTrustedDocuments(platform: () => Platform) {
  const client = clientOf(platform);
  let account: Account;

  beforeAll(async () => {
    account = await client.signUp();
  });

  const send = (options: CallOptions, method = 'POST', path = '/graphql') =>
    client.call<GraphqlBody>(method, path, { token: account.token, ...options });
  const get = (parameters: object) => {
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    const texts = Object.entries(parameters).map(([name, value]): [string, string] => [name, text(value)]);
    return send({ headers: { accept: 'application/json' } }, 'GET', `/graphql?${new URLSearchParams(texts)}`);
  };
  const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
  const codesOf = ({ body }: { body: GraphqlBody }) => body.errors?.map(({ extensions }) => extensions.code);
  const RESULT = { data: { taskStatistics: { total: 0 } } };

  describe('a trusted document', () => {
    it('runs by its hash, in both common formats, and by its exact text', async () => {
      const hash = hashOf(STATISTICS);
      const extensions = persisted(hash);
      const requests = [{ documentId: hash }, { extensions }, { query: STATISTICS }, { query: STATISTICS, extensions }];
      for (const json of requests)
        for (const { status, body } of [await send({ json }), await get(json)])
          expect([status, body]).toEqual([200, RESULT]);
    });

    it('accepts variables, and runs instead of a text sent with its hash', async () => {
      const { token } = await client.signUp();
      const json = { documentId: hashOf(CREATE), variables: { input: { title: 'By its hash' } } };
      expect((await send({ token, json })).body).toEqual({ data: { createTask: { title: 'By its hash' } } });
      for (const beside of [{ documentId: hashOf(STATISTICS) }, { extensions: persisted(hashOf(STATISTICS)) }])
        expect((await send({ json: { ...beside, query: UNTRUSTED } })).body).toEqual(RESULT);
    });

    it('may be one of the console, or run as a stream', async () => {
      for (const query of [READ_TASKS, READ_SESSIONS]) {
        const { status, body } = await send({ json: { query } });
        expect([status, Object.keys(body)]).toEqual([200, ['data']]);
      }
      const headers = { accept: 'text/event-stream', authorization: `Bearer ${account.token}` };
      const response = await fetch(`${platform().url}/graphql?documentId=${hashOf(CHANGES)}`, { headers });
      await response.body?.cancel();
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^text\/event/);
    });
  });

  describe('any other document', () => {
    it.each([
      ['a query', UNTRUSTED],
      ['a trusted one with an extra space', `${STATISTICS} `],
      ['one that is not GraphQL', '{'],
      ['introspection', '{ __schema { queryType { name } } }'],
      ['only __typename', '{ __typename }'],
      ['a mutation', `mutation { login(input: {email: "${newEmail()}", password: "${PASSWORD}"}) { accessToken } }`],
    ])('is refused: %s', async (_what, query) => {
      for (const response of [await send({ json: { query } }), await get({ query })]) {
        expect(response.status).toBe(403);
        expect(response.body).toEqual({ errors: [{ message: expect.any(String), extensions: { code: 'FORBIDDEN' } }] });
      }
    });

    it('is not registered by sending it with its hash, and an unknown hash is reported', async () => {
      const response = await send({ json: { query: UNTRUSTED, extensions: persisted(hashOf(UNTRUSTED)) } });
      expect([response.status, codesOf(response)]).toEqual([403, ['FORBIDDEN']]);
      const hashes = [hashOf(UNTRUSTED), '0'.repeat(64)];
      for (const json of [
        ...[...hashes, '__proto__', 'constructor', 'toString'].map((documentId) => ({ documentId })),
        ...hashes.map((hash) => ({ extensions: persisted(hash) })),
      ])
        for (const response of [await send({ json }), await get(json)])
          expect([codesOf(response), response.body.data]).toEqual([['PERSISTED_QUERY_NOT_FOUND'], undefined]);
    });

    it('does not run over graphql-ws, nor as a stream', async () => {
      const socket = await openSocket(`${platform().url}/graphql`, { protocol: 'graphql-transport-ws' });
      socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${account.token}` } });
      await socket.frame(({ type }: { type: string }) => type === 'connection_ack');
      const query = 'subscription { taskChanges { cursor } }';
      socket.send({ id: '1', type: 'subscribe', payload: { query } });
      const frame = await socket.frame(({ id }: { id?: string }) => id === '1');
      socket.close();
      expect(frame).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'FORBIDDEN' } }] });

      const stream = await send({ headers: { accept: 'text/event-stream' }, json: { query } });
      expect([stream.status, codesOf(stream)]).toEqual([403, ['FORBIDDEN']]);
    });
  });

  it('does not affect REST', async () => {
    const { token } = await client.signUp();
    expect((await client.call('POST', '/full/api/tasks', { token, json: { title: 'Over REST' } })).status).toBe(201);
    expect((await client.call('GET', '/full/api/tasks/stats', { token })).status).toBe(200);
  });
}
