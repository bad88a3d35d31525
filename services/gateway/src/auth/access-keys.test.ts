import { createSigningKey, publicKeys, signAccessToken } from '@taskmesh/identity';
import { createLog, systemClock } from '@taskmesh/service';
import { jest } from '@jest/globals';
import { importJWK, type CryptoKey, type JWK } from 'jose';
import { createAccessKeys } from './access-keys.ts';
import { createAuthenticator } from './authenticator.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
/** The runbook promises ten seconds, one of which auth takes to read its file. */
const PROMISED_MS = 9_000;

const log = createLog({ service: 'test', level: 'silent' });

async function tokenOf(key: JWK): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const privateKey = (await importJWK(key, 'ES256')) as CryptoKey; // elliptic-curve JWKs become CryptoKeys
  const claims = {
    userId: USER,
    sub: USER,
    email: 'a@example.com',
    iat,
    exp: iat + 3_600,
    sid: 'session',
    jti: 'token',
  };
  return signAccessToken(claims, { kid: key.kid ?? '', privateKey });
}

/** The gateway's view of the keys; `has` sets those that auth publishes from now on. */
async function fixture(first: JWK) {
  let keys = [first];
  let asked = 0;
  const auth = {
    async accessTokenKeys() {
      asked++;
      return publicKeys({ keys });
    },
    endedSessions: () => Promise.reject(new Error('not asked for here')),
  };
  const accessKeys = createAccessKeys({ auth, log });
  const endedSessions = { has: () => false, loaded: () => true } as unknown as Parameters<
    typeof createAuthenticator
  >[0]['endedSessions']; // the only methods called
  await accessKeys.start();
  await jest.advanceTimersByTimeAsync(0);
  const { authenticateToken } = createAuthenticator({
    keys: accessKeys,
    endedSessions,
    personalTokens: { userOf: async () => undefined },
    sessionUses: { note: () => undefined },
    clock: systemClock,
  });
  return {
    accessKeys,
    authenticator: { authenticateToken: (token: string) => authenticateToken(token, { ipOf: () => '192.0.2.1' }) },
    asked: () => asked,
    has: (...now: JWK[]) => (keys = now),
  };
}

describe('a signing key', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each([
    ['was removed', 'another'],
    ['was replaced under the same id', 'leaked'],
  ])('opens nothing ten seconds after it %s, though its tokens were let in before', async (_what, kid) => {
    const leaked = await createSigningKey('leaked');
    const { accessKeys, authenticator, has } = await fixture(leaked);
    const token = await tokenOf(leaked);
    expect((await authenticator.authenticateToken(token)).kind).toBe('user');
    has(await createSigningKey(kid));
    await jest.advanceTimersByTimeAsync(PROMISED_MS);
    expect((await authenticator.authenticateToken(token)).kind).toBe('invalid');
    await accessKeys.stop();
  });

  it('is the same one as long as auth has it: listeners hear of a removal only, until they unsubscribe', async () => {
    const key = await createSigningKey('old');
    const { accessKeys, authenticator, has } = await fixture(key);
    const token = await tokenOf(key);
    const caller = await authenticator.authenticateToken(token);
    const heard: string[] = [];
    const unsubscribe = accessKeys.onRemoved(() => heard.push('one'));
    accessKeys.onRemoved(() => heard.push('other'));
    has(await createSigningKey('new'), key);
    await jest.advanceTimersByTimeAsync(PROMISED_MS);
    expect(await authenticator.authenticateToken(token)).toBe(caller);
    expect(heard).toEqual([]);
    has(key);
    await jest.advanceTimersByTimeAsync(PROMISED_MS);
    expect(heard).toEqual(['one', 'other']);
    unsubscribe();
    has(await createSigningKey('newer'));
    await jest.advanceTimersByTimeAsync(PROMISED_MS);
    expect(heard).toEqual(['one', 'other', 'other']);
    await accessKeys.stop();
  });

  it('that auth has since a moment is good at once, and without an id never', async () => {
    const key = await createSigningKey('key');
    const { accessKeys, authenticator, has } = await fixture(await createSigningKey('old'));
    const nameless = await createSigningKey('');
    has(key, nameless);
    expect((await authenticator.authenticateToken(await tokenOf(key))).kind).toBe('user');
    expect((await authenticator.authenticateToken(await tokenOf(nameless))).kind).toBe('invalid');
    await accessKeys.stop();
  });

  it('that is new is good for all who use it at once', async () => {
    const key = await createSigningKey('key');
    const { accessKeys, authenticator, asked, has } = await fixture(await createSigningKey('old'));
    has(key);
    const tokens = await Promise.all([tokenOf(key), tokenOf(key), tokenOf(key)]);
    const callers = await Promise.all(tokens.map((token) => authenticator.authenticateToken(token)));
    expect(callers.map(({ kind }) => kind)).toEqual(['user', 'user', 'user']);
    expect(asked()).toBe(2);
    await accessKeys.stop();
  });

  it('that is new is good at its first use, however many forged ids were tried before', async () => {
    const key = await createSigningKey('key');
    const { accessKeys, authenticator, asked, has } = await fixture(await createSigningKey('old'));
    const forged = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => tokenOf(await createSigningKey(`forged-${number}`))),
    );
    const token = await tokenOf(key);
    expect((await authenticator.authenticateToken(await tokenOf(await createSigningKey('first')))).kind).toBe(
      'invalid',
    );
    has(key);
    const tried = forged.map((each) => authenticator.authenticateToken(each));
    const used = authenticator.authenticateToken(token);
    let isOver = false;
    void Promise.all([used, ...tried]).then(() => (isOver = true));
    while (!isOver) await jest.advanceTimersByTimeAsync(10);
    expect((await used).kind).toBe('user');
    for (const caller of await Promise.all(tried)) expect(caller.kind).toBe('invalid');
    expect(asked()).toBeLessThanOrEqual(4);
    await accessKeys.stop();
  });

  it('that is known is not asked for, and no key is any more after the end', async () => {
    const key = await createSigningKey('key');
    const { accessKeys, authenticator, asked } = await fixture(key);
    expect((await authenticator.authenticateToken(await tokenOf(key))).kind).toBe('user');
    expect(asked()).toBe(1);
    await accessKeys.stop();
    await jest.advanceTimersByTimeAsync(10 * PROMISED_MS);
    expect(asked()).toBe(1);
  });
});
