import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { eventually } from '@taskmesh/testing';
import { postGraphQL, sha256, startTestGateway, type TestGateway, USER } from './fakes/gateway.ts';

const OTHER = 'a0000000-0000-4000-8000-000000000002';

/** A store that exposes its content. */
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

describe('automatic persisted queries', () => {
  let gateway: TestGateway;
  let kept: Map<string, string>;
  beforeEach(async () => {
    const spied = createSpiedStore();
    kept = spied.kept;
    gateway = await startTestGateway({ keyValue: spied.store, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  });

  const bearer = async (user: string) => ({ authorization: `Bearer ${await gateway.auth.token(user)}` });

  async function register(query: string, headers: Record<string, string>, rest: object = {}): Promise<unknown> {
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(query) } };
    return (await postGraphQL(gateway.origin, { query, extensions, ...rest }, headers)).body;
  }

  it('do not store a document that would not run, or a mutation whose text may contain a password', async () => {
    for (const [query, rest] of [
      ['{ nothing', {}],
      ['{ nothing }', {}],
      [`{ tasks(first: 1000) { edges { node { owner { tasks { edges { node { id } } } } } } } }`, {}],
      ['query ($n: Int!) { tasks(first: $n) { totalCount } }', { variables: { n: 'x' } }],
      ['query A { __typename }', { operationName: 'B' }],
      ['mutation { login(input: { email: "ada@example.com", password: "in clear" }) { accessToken } }', {}],
      [`{ __typename } ${'#'.repeat(16 * 1024)}`, {}], // too long to be kept
    ] as const)
      await register(query, await bearer(USER), rest);
    const good = '{ taskStatistics { total } }';
    await register(good, await bearer(USER));
    await eventually(() => kept.size > 0);
    expect([...kept.values()]).toEqual([good]);
  });

  it.each<[string, (index: number) => Promise<Record<string, string>>]>([
    ['an account', (index) => bearer(index < 205 ? USER : OTHER)],
    [
      'an IPv6 network',
      async (index) => ({ 'x-forwarded-for': `2001:db8:0:${index < 205 ? 1 : 2}::${index.toString(16)}` }),
    ],
  ])('store a limited number of new documents of %s, and still run the others', async (_caller, headersOf) => {
    for (let index = 0; index <= 205; index++)
      expect(await register(`query Q${index} { __typename }`, await headersOf(index))).toEqual({
        data: { __typename: 'Query' },
      });
    await eventually(() => kept.has(`apq:${sha256('query Q205 { __typename }')}`));
    expect(kept.size).toBe(201);
  });
});
