import { createSigningKey, newPersonalToken, publicKeys, signAccessToken } from '@taskmesh/identity';
import { createLog, systemClock } from '@taskmesh/service';
import { atEnd, liveBytes } from '@taskmesh/testing';
import { importJWK, type CryptoKey, type JWK } from 'jose';
import { createAccessKeys } from './access-keys.ts';
import { createAuthenticator } from './authenticator.ts';
import type { EndedSessions } from './sessions.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
/** The runbook promises ten seconds, one of which auth takes to read its file. */
const PROMISED_MS = 9_000;

const log = createLog({ service: 'test', level: 'silent' });

async function tokenOf(key: JWK): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const privateKey = (await importJWK(key, 'ES256')) as CryptoKey; // elliptic-curve JWKs become CryptoKeys
  const ids = { userId: USER, sub: USER, sid: 'session', jti: 'token' };
  const claims = { ...ids, email: 'a@example.com', iat, exp: iat + 3_600 };
  return signAccessToken(claims, { kid: key.kid ?? '', privateKey });
}

/** An authenticator with the keys that auth publishes, which `has` replaces. */
async function fixture(first?: JWK) {
  const key = first ?? (await createSigningKey('key'));
  let keys = [key];
  let asked = 0;
  const state = {
    isLoaded: true,
    isAuthDown: false,
    ended: new Set<string>(),
    used: [] as string[],
    askers: [] as string[],
  };
  const accessKeys = createAccessKeys({
    auth: {
      async accessTokenKeys() {
        asked++;
        if (state.isAuthDown) throw new Error('connect ECONNREFUSED');
        return publicKeys({ keys });
      },
    },
    log,
  });
  const { authenticate, authenticateToken } = createAuthenticator({
    keys: accessKeys,
    endedSessions: {
      has: (session: string) => state.ended.has(session),
      loaded: () => state.isLoaded,
    } as unknown as EndedSessions, // the only methods called
    personalTokens: { userOf: async (_token, callerOf) => void state.askers.push(callerOf()) as undefined },
    sessionUses: { note: (session) => void state.used.push(session) },
    clock: systemClock,
  });
  atEnd(() => accessKeys.stop());
  await accessKeys.start();
  await jest.advanceTimersByTimeAsync(0);
  const ipOf = () => '192.0.2.1';
  const callerOf = (token: string, graceS = 0) => authenticateToken(token, { ipOf, graceS });
  return {
    ...{ key, state, accessKeys, callerOf },
    authenticate: (value: string) => authenticate([value], ipOf),
    kindOf: async (token: string, graceS?: number) => (await callerOf(token, graceS)).kind,
    asked: () => asked,
    has: (...now: JWK[]) => (keys = now),
  };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a token', () => {
  it('identifies its user, and its signature is verified once', async () => {
    const { key, accessKeys, callerOf } = await fixture();
    const getKey = jest.spyOn(accessKeys, 'getKey');
    const token = await tokenOf(key);
    const caller = await callerOf(token);
    expect(caller).toMatchObject({ kind: 'user', identity: { role: 'user', userId: USER, sessionId: 'session' } });
    expect(await callerOf(token)).toBe(caller);
    expect(getKey).toHaveBeenCalledTimes(1);
  });

  it('is kept without the header that it was a part of', async () => {
    const { key, authenticate } = await fixture();
    const tokens = await Promise.all(Array.from({ length: 300 }, () => tokenOf(key)));
    const { authenticate: warmUp } = await fixture(key);
    for (const token of tokens) await warmUp(`Bearer ${token}`);
    const before = liveBytes();
    for (const token of tokens) expect((await authenticate(`Bearer${' '.repeat(15_000)}${token}`)).kind).toBe('user');
    expect((liveBytes() - before) / tokens.length).toBeLessThan(5_000);
  });

  it('counts as a use of its session each time it is accepted', async () => {
    const { key, state, kindOf } = await fixture();
    const token = await tokenOf(key);
    for (const _time of [1, 2]) await kindOf(token);
    expect(state.used).toEqual(['session', 'session']);
    state.ended.add('session');
    for (const bad of [token, 'nonsense']) expect(await kindOf(bad)).toBe('invalid');
    expect(state.used).toHaveLength(2);
  });

  it('that is personal needs the list of ended sessions, and is looked up for its network', async () => {
    const { state, kindOf } = await fixture();
    expect([await kindOf(newPersonalToken()), state.askers]).toEqual(['invalid', ['192.0.2.1']]);
    state.isLoaded = false;
    await expect(kindOf(newPersonalToken())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('is refused after it has expired, even if it was accepted before, except for callers that grant more time', async () => {
    const { key, kindOf } = await fixture();
    const token = await tokenOf(key);
    expect(await kindOf(token)).toBe('user');
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
    const at = async (seconds: number, graceS?: number) => {
      jest.setSystemTime((exp + seconds) * 1_000);
      return kindOf(token, graceS);
    };
    const kinds = [await at(-0.001), await at(0), await at(0, 60), await at(0), await at(60, 60)];
    expect(kinds).toEqual(['user', 'invalid', 'user', 'invalid', 'invalid']);
  });
});

describe('a signing key', () => {
  it.each([
    ['was removed', 'another'],
    ['was replaced under the same id', 'leaked'],
  ])('is refused ten seconds after it %s, even if its tokens were accepted before', async (_what, kid) => {
    const leaked = await createSigningKey('leaked');
    const { has, kindOf } = await fixture(leaked);
    const token = await tokenOf(leaked);
    expect(await kindOf(token)).toBe('user');
    has(await createSigningKey(kid));
    await jest.advanceTimersByTimeAsync(PROMISED_MS);
    expect(await kindOf(token)).toBe('invalid');
  });

  it('is valid as soon as auth publishes it, but never without an id', async () => {
    const key = await createSigningKey('key');
    const { has, kindOf } = await fixture(await createSigningKey('old'));
    const nameless = await createSigningKey('');
    has(key, nameless);
    expect(await kindOf(await tokenOf(key))).toBe('user');
    expect(await kindOf(await tokenOf(nameless))).toBe('invalid');
  });

  it('that is new makes its tokens unavailable, not invalid, while auth cannot be asked for it', async () => {
    const { key, state, kindOf } = await fixture();
    state.isAuthDown = true;
    const token = await tokenOf(await createSigningKey('new'));
    await expect(kindOf(token)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await kindOf(await tokenOf(key))).toBe('user');
  });

  it('is valid at its first use, however many forged ids were tried before', async () => {
    const key = await createSigningKey('key');
    const { callerOf, asked, has, kindOf } = await fixture(await createSigningKey('old'));
    const forged = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => tokenOf(await createSigningKey(`forged-${number}`))),
    );
    const token = await tokenOf(key);
    expect(await kindOf(await tokenOf(await createSigningKey('first')))).toBe('invalid');
    has(key);
    const tried = forged.map((each) => callerOf(each));
    const used = callerOf(token);
    let isOver = false;
    void Promise.all([used, ...tried]).then(() => (isOver = true));
    while (!isOver) await jest.advanceTimersByTimeAsync(10);
    expect((await used).kind).toBe('user');
    for (const caller of await Promise.all(tried)) expect(caller.kind).toBe('invalid');
    expect(asked()).toBeLessThanOrEqual(4);
  });
});
