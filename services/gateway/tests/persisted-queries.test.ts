import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { eventually } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { ask, startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const OTHER = 'a0000000-0000-4000-8000-000000000002';

/** A store that shows what was kept in it. */
function createSpiedStore() {
  const kept = new Map<string, string>();
  const memory = createMemoryKeyValue();
  const store: KeyValue = {
    ...memory,
    async set(key, value, options) {
      if (key.startsWith('apq:')) kept.set(key, value);
      await memory.set(key, value, options);
    },
  };
  return { store, kept };
}

const hashOf = (query: string) => createHash('sha256').update(query).digest('hex');

describe('automatic persisted queries', () => {
  let gateway: TestGateway;
  let kept: Map<string, string>;
  beforeEach(async () => {
    const spied = createSpiedStore();
    kept = spied.kept;
    gateway = await startTestGateway({ keyValue: spied.store, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  });
  afterEach(() => gateway.stop());

  const bearer = async (user: string) => ({ authorization: `Bearer ${await gateway.auth.token(user)}` });

  async function register(query: string, headers: Record<string, string>, rest: object = {}): Promise<unknown> {
    const extensions = { persistedQuery: { version: 1, sha256Hash: hashOf(query) } };
    return (await ask(gateway.origin, { query, extensions, ...rest }, headers)).body;
  }

  it.each([
    ['that cannot be read', '{ nothing', {}],
    ['that is not valid', '{ nothing }', {}],
    [
      'that asks for too much',
      '{ tasks(first: 1000) { edges { node { a: id } node { owner { tasks { edges { node { id } } } } } } } }',
      {},
    ],
    ['whose variables are wrong', 'query ($n: Int!) { tasks(first: $n) { totalCount } }', { variables: { n: 'x' } }],
    ['that lacks the operation', 'query A { __typename }', { operationName: 'B' }],
    ['that is too long', `{ __typename } ${'#'.repeat(16 * 1024)}`, {}],
  ])('keep no document %s', async (_, query, rest) => {
    await register(query, await bearer(USER), rest);
    const good = '{ taskStatistics { total } }';
    await register(good, await bearer(USER));
    await eventually(() => kept.size > 0);
    expect([...kept.values()]).toEqual([good]);
  });

  it('run by their hash once they have come with it, and are refused with the hash of another text', async () => {
    const query = '{ taskStatistics { completed } }';
    const headers = await bearer(USER);
    const byHash = (sha256Hash: string, text?: string) =>
      ask(gateway.origin, { query: text, extensions: { persistedQuery: { version: 1, sha256Hash } } }, headers);
    const unknown = await byHash(hashOf(query));
    expect(unknown.body.errors?.[0]?.extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
    const wrong = await byHash('0'.repeat(64), query);
    expect([wrong.status, wrong.body.data]).toEqual([400, undefined]);
    const result = { data: { taskStatistics: { completed: 0 } } };
    expect(await register(query, headers)).toEqual(result);
    expect((await byHash(hashOf(query))).body).toEqual(result);
  });

  it('keep so many new ones of an account, and run the others all the same', async () => {
    const headers = await bearer(USER);
    for (let index = 0; index < 205; index++)
      expect(await register(`query Q${index} { __typename }`, headers)).toEqual({ data: { __typename: 'Query' } });
    await register('query Other { __typename }', await bearer(OTHER));
    await eventually(() => kept.has(`apq:${hashOf('query Other { __typename }')}`));
    expect(kept.size).toBe(201);
  });

  it('count one that was seen before once only', async () => {
    const headers = await bearer(USER);
    for (let time = 0; time < 250; time++) await register('{ __typename }', headers);
    await register('query Last { __typename }', headers);
    await eventually(() => kept.size === 2);
  });

  it('take all addresses of an IPv6 network for one caller', async () => {
    for (let index = 0; index < 205; index++)
      await register(`query Q${index} { __typename }`, { 'x-forwarded-for': `2001:db8:0:1::${index.toString(16)}` });
    await register('query Other { __typename }', { 'x-forwarded-for': '2001:db8:0:2::1' });
    await eventually(() => kept.has(`apq:${hashOf('query Other { __typename }')}`));
    expect(kept.size).toBe(201);
  });
});
