import { createSigningKey, newPersonalToken, publicKeys, signAccessToken } from '@taskmesh/identity';
import { importJWK, type CryptoKey } from 'jose';
import type { User } from '../context.ts';
import { createAuthenticator } from './authenticator.ts';

const NOW_S = 1_800_000_000;
const USER = 'a0000000-0000-4000-8000-000000000001';
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };

const ipOf = () => '192.0.2.1';

async function fixture() {
  const jwk = await createSigningKey('key-1');
  const imported = (key = jwk) => importJWK(key, 'ES256') as Promise<CryptoKey>; // elliptic-curve JWKs become CryptoKeys
  const [privateKey, key] = [await imported(), await imported(publicKeys({ keys: [jwk] }).keys[0])];
  const state = {
    nowS: NOW_S,
    isLoaded: true,
    hasKeys: true,
    isCurrent: true,
    ended: new Set<string>(),
    checks: 0,
    used: [] as string[],
    askers: [] as string[],
    personal: undefined as User | undefined,
  };
  const { authenticate, authenticateToken } = createAuthenticator({
    keys: {
      current: () => (state.hasKeys ? { keys: [] } : undefined),
      async getKey() {
        state.checks++;
        if (!state.isCurrent) throw new Error('unknown key id');
        return key;
      },
      isCurrent: () => state.isCurrent,
      onRemoved: () => () => undefined,
      start: async () => undefined,
      stop: async () => undefined,
    },
    endedSessions: {
      has: (session) => state.ended.has(session),
      loaded: () => state.isLoaded,
      announce: () => undefined,
      onEnded: () => () => undefined,
      start: async () => undefined,
      stop: async () => undefined,
    },
    personalTokens: {
      async userOf(_token, callerOf) {
        state.askers.push(callerOf());
        return state.personal;
      },
    },
    sessionUses: { note: (session) => void state.used.push(session) },
    clock: { now: () => state.nowS * 1_000 },
  });
  const authenticator = {
    authenticate: (values: readonly string[]) => authenticate(values, ipOf),
    authenticateToken: (given: string, options: { graceS?: number } = {}) =>
      authenticateToken(given, { ipOf, ...options }),
  };
  const claims = { userId: USER, sub: USER, email: 'a@x', iat: NOW_S, exp: NOW_S + 900, sid: 'session', jti: 'token' };
  const token = await signAccessToken(claims, { kid: 'key-1', privateKey });
  const kindOf = async (...args: Parameters<typeof authenticator.authenticateToken>) =>
    (await authenticator.authenticateToken(...args)).kind;
  return { authenticator, state, token, claims, kindOf };
}

describe('a token', () => {
  it('tells who calls, and its signature is checked once', async () => {
    const { authenticator, state, token, claims } = await fixture();
    const caller = await authenticator.authenticateToken(token);
    expect(caller).toMatchObject({
      kind: 'user',
      claims,
      identity: { role: 'user', userId: USER, sessionId: 'session' },
    });
    expect(await authenticator.authenticateToken(token)).toBe(caller);
    expect(state.checks).toBe(1);
  });

  it('is a use of its session each time that it counts', async () => {
    const { state, token, kindOf } = await fixture();
    for (const _time of [1, 2]) await kindOf(token);
    expect(state.used).toEqual(['session', 'session']);
    state.ended.add('session');
    for (const bad of [token, 'nonsense']) await kindOf(bad);
    expect(state.used).toHaveLength(2);
  });

  it('that was let in is not when its time is over, but for who grants more', async () => {
    const { state, token, kindOf } = await fixture();
    expect(await kindOf(token)).toBe('user');
    state.nowS = NOW_S + 899.999;
    expect(await kindOf(token)).toBe('user');
    state.nowS = NOW_S + 900;
    expect(await kindOf(token)).toBe('invalid');
    expect(await kindOf(token, { graceS: 60 })).toBe('user');
    expect(await kindOf(token)).toBe('invalid');
    state.nowS = NOW_S + 960;
    expect(await kindOf(token, { graceS: 60 })).toBe('invalid');
  });
});

describe('a personal token', () => {
  const token = newPersonalToken();
  const user: User = {
    kind: 'user',
    claims: {
      userId: USER,
      sub: USER,
      email: 'a@x',
      iat: NOW_S,
      exp: NOW_S + 900,
      sid: 'token',
      jti: 'token',
      key: undefined,
    },
    identity: { role: 'user', userId: USER, sessionId: 'token', scope: 'read' },
  };

  it('lets in whom auth knows, is a use, and opens nothing once it is in the list of what has ended', async () => {
    const { authenticator, state, kindOf } = await fixture();
    expect(await kindOf(token)).toBe('invalid');
    state.personal = user;
    expect(await authenticator.authenticate([`Bearer ${token}`])).toBe(user);
    expect(state.used).toEqual(['token']);
    expect(state.askers).toEqual(['192.0.2.1', '192.0.2.1']);
    state.ended.add('token');
    expect(await kindOf(token)).toBe('invalid');
  });

  it('needs no key, but the list of what has ended', async () => {
    const { authenticator, state, kindOf } = await fixture();
    state.personal = user;
    state.hasKeys = false;
    expect(await kindOf(token)).toBe('user');
    state.isLoaded = false;
    await expect(authenticator.authenticateToken(token)).rejects.toMatchObject(UNAVAILABLE);
  });
});
