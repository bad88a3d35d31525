import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { eventually } from '@taskmesh/testing';
import { postGraphQL, sha256, useGateway, USER } from './fakes/gateway.ts';

const OTHER = 'a0000000-0000-4000-8000-000000000002';

/** The documents in the store. */
const kept = new Map<string, string>();
const memory = createMemoryKeyValue();
const keyValue: KeyValue = {
  ...memory,
  async set(key, value, options) {
    if (key.startsWith('apq:')) kept.set(key, value);
    await memory.set(key, value, options);
  },
};

describe('automatic persisted queries', () => {
  const gateway = useGateway({ keyValue, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  beforeEach(() => kept.clear());

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
      [`{ __typename } #${'€'.repeat(6_000)}`, {}], // too long to be kept
    ] as const)
      await register(query, await bearer(OTHER), rest);
    const good = '{ taskStatistics { total } }';
    await register(good, await bearer(OTHER));
    await eventually(() => kept.size > 0);
    expect([...kept.values()]).toEqual([good]);
  });

  it.each<[string, (index: number) => Promise<Record<string, string>>]>([
    ['an account', (index) => bearer(index < 205 ? USER : OTHER)],
    [
      'an IPv6 network',
      async (index) => ({ 'x-forwarded-for': `2001:db8:0:${index < 205 ? 1 : 2}::${index.toString(16)}` }),
    ],
  ])('store a limited number of new documents of %s, and still run the others', async (caller, headersOf) => {
    const queryAt = (index: number) => `query ${caller.replaceAll(' ', '_')}_${index} { __typename }`;
    const send = async (index: number) => register(queryAt(index), await headersOf(index));
    for (let from = 0; from < 205; from += 41)
      for (const body of await Promise.all(Array.from({ length: 41 }, (_, at) => send(from + at))))
        expect(body).toEqual({ data: { __typename: 'Query' } });
    await send(205);
    await eventually(() => kept.has(`apq:${sha256(queryAt(205))}`));
    expect(kept.size).toBe(201);
  });
});
