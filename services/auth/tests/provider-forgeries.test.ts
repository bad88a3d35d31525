import type { JWTPayload } from 'jose';
import { startSignInProvider, type SignInProvider } from '@taskmesh/testing/sign-in-provider';
import { ADA, REDIRECT_URI, resultIn, useSignIn, VERIFIER } from './support/provider-sign-in.ts';
import { codeOf } from './support/operations.ts';
import { hashOf } from '../src/opaque-token.ts';

const MINUTE_MS = 60_000;
const NOT_BEGUN = { code: 'BAD_USER_INPUT', issues: [{ path: 'state', message: expect.any(String) }] };

const { provider, running, begin, codeFor, complete, resultOf, signInWith, visit } = useSignIn();
afterEach(async () => {
  // Rejected sign-ins must leave nothing behind.
  expect(await running.query('select 1 from accounts')).toEqual([]);
  expect(await running.query('select 1 from sign_in_codes')).toEqual([]);
});

const failed = { sign_in_error: 'sign_in_failed', sign_in_error_description: expect.any(String) };

/** The result that the page gets after `change` was applied to the provider's ID token. */
async function resultWith(change: (claims: JWTPayload) => Promise<string> | string) {
  const { binding, nonce, back } = await visit();
  const nowS = Math.floor(Date.now() / 1000);
  const good = { iss: provider.issuer, aud: provider.clientId, sub: 'ada', nonce, iat: nowS, exp: nowS + 300, ...ADA };
  provider.tamper(async (path, body) => (path === '/token' ? { ...body, id_token: await change(good) } : body));
  return resultOf(binding, back);
}

const startProvider = () => startSignInProvider({ redirectUri: REDIRECT_URI });

async function changedBehindSignature(claims: JWTPayload) {
  const [head, , signature] = (await provider.sign(claims)).split('.');
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url');
  return [head, changed, signature].join('.');
}

describe('an ID token', () => {
  it.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
    ['for another client', (claims) => provider.sign({ ...claims, aud: 'another' })],
    [
      'for several clients, and made for another',
      (claims) => provider.sign({ ...claims, aud: [provider.clientId, 'another'], azp: 'another' }),
    ],
    ['for several clients, and made for none', (claims) => provider.sign({ ...claims, aud: [provider.clientId, 'x'] })],
    ['of another issuer', (claims) => provider.sign({ ...claims, iss: 'https://elsewhere.example' })],
    ['with another nonce', (claims) => provider.sign({ ...claims, nonce: 'of another sign-in' })],
    ['without a nonce', ({ nonce: _nonce, ...claims }) => provider.sign(claims)],
    ['that has expired', (claims) => provider.sign({ ...claims, iat: 1_700_000_000, exp: 1_700_000_300 })],
    ['that never expires', ({ exp: _exp, ...claims }) => provider.sign(claims)],
    ['about no one', ({ sub: _sub, ...claims }) => provider.sign(claims)],
    ['about somebody whose name cannot be stored', (claims) => provider.sign({ ...claims, sub: 'a\u0000' })],
    ['about somebody without end', (claims) => provider.sign({ ...claims, sub: 'x'.repeat(256) })],
    ['without a signature (alg: none)', (claims) => provider.signWith(claims, undefined)],
    ['signed with the secret of the client (HS256)', (claims) => provider.signWith(claims, provider.clientSecret)],
    ['signed with a key of somebody else', async (claims) => (await startProvider()).sign(claims)],
    ['whose claims were changed behind the signature', changedBehindSignature],
    ['that is none', () => 'nonsense'],
    ['that is not there', () => ''],
  ])('%s is rejected', async (_what, change) => expect(await resultWith(change)).toEqual(failed));

  it('is accepted as the provider issues it, so the ones above are rejected only for their difference', async () => {
    const result = await resultWith((claims) => provider.sign(claims));
    expect(result).toEqual({ sign_in_code: expect.stringMatching(/^[\w-]{43}$/) });
    await running.query('delete from sign_in_codes');
  });

  it('is rejected with the user info of another subject', async () => {
    const { binding, back } = await visit();
    provider.tamper(async (path, body) => (path === '/me' ? { ...body, sub: 'eve' } : body));
    expect(await resultOf(binding, back)).toEqual(failed);
  });
});

describe('a browser that comes back', () => {
  it.each<[string, (back: URL) => void]>([
    ['with another state', (back) => back.searchParams.set('state', 'x'.repeat(43))],
    ['without a state', (back) => back.searchParams.delete('state')],
    ['with two states, the wrong one first', (back) => void (back.search = `?state=x&${back.search.slice(1)}`)],
  ])('%s is rejected, and does not use up the sign-in that was begun', async (_what, change) => {
    const { binding, back } = await visit();
    const forged = new URL(back);
    change(forged);
    await expect(complete(binding, forged)).rejects.toMatchObject(NOT_BEGUN);
    expect(await resultOf(binding, back)).toHaveProperty('sign_in_code');
    await running.query('delete from sign_in_codes');
  });

  it('without the cookie, or with that of another browser or a forged one, is rejected', async () => {
    const [{ back }, other] = [await visit(), await begin()];
    const state = back.searchParams.get('state') ?? '';
    const forged = [`${'x'.repeat(43)}.`.repeat(3), [state, 'n'.repeat(43), 'v'.repeat(43)].join('.')];
    for (const binding of [undefined, '', 'nonsense', 'a.b.c', other.binding, ...forged])
      await expect(complete(binding, back)).rejects.toMatchObject(NOT_BEGUN);
  });

  it('many times, concurrently or later, gets one code', async () => {
    const { binding, back } = await visit();
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => complete(binding, back)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(complete(binding, back)).rejects.toMatchObject(NOT_BEGUN);
    expect(await running.query('select 1 from sign_in_codes')).toHaveLength(1);
    await running.query('delete from sign_in_codes');
  });

  it('after ten minutes is rejected', async () => {
    const { binding, back } = await visit();
    running.clock.advance(10 * MINUTE_MS);
    await expect(complete(binding, back)).rejects.toMatchObject(NOT_BEGUN);
  });

  it('with the code of another browser gets an error, as that was requested with another challenge', async () => {
    const [victim, thief] = [await visit(), await visit()];
    thief.back.searchParams.set('code', victim.back.searchParams.get('code') ?? '');
    expect(await resultOf(thief.binding, thief.back)).toEqual(failed);
  });

  it.each<[string, (back: URL, other: SignInProvider) => void]>([
    ['another issuer says that it answers', (back, other) => back.searchParams.set('iss', other.issuer)],
    ['the issuer is missing, though the provider always does', (back) => back.searchParams.delete('iss')],
    ['there are two codes', (back) => back.searchParams.append('code', 'another')],
    ['there is no code', (back) => back.searchParams.delete('code')],
    ['there is an answer in another form', (back) => back.searchParams.set('response', 'a.b.c')],
  ])('gets an error when %s, and no request is sent', async (_what, change) => {
    const other = await startProvider();
    const { binding, back } = await visit();
    change(back, other);
    const asked = provider.requests.length;
    expect(await resultOf(binding, back)).toEqual(failed);
    expect([other.requests, provider.requests.slice(asked)]).toEqual([[], []]);
  });

  it("gets the provider's error, sanitized and of limited length", async () => {
    const { binding, back } = await visit();
    const state = back.searchParams.get('state') ?? '';
    const iss = provider.issuer;
    const said = { error: 'Nonsense\r\nSet-Cookie: a=b', error_description: `<b>\u0000${'x'.repeat(5_000)}` };
    back.search = new URLSearchParams({ state, iss, ...said }).toString();
    const { location } = await complete(binding, back);
    expect(location).toMatch(/^\/#sign_in_error=server_error&sign_in_error_description=[\w%+.*-]+$/);
    expect(resultIn({ location }).sign_in_error_description).toHaveLength(300);
  });
});

// prettier-ignore
const REFUSED = [
  '//evil.example', '///evil.example', '/\\evil.example', '\\evil.example', '\\/evil.example', '/\t/evil.example',
  'https://evil.example', 'https:evil.example', 'javascript:alert(1)', 'evil.example', '@evil.example', '',
  '/a\r\nSet-Cookie: a=b', '/a\u0000', '/\u2028', '/ä', '/a#sign_in_code=theirs', '/a b', `/${'x'.repeat(2_048)}`,
  '/\ud800', ' /a', '/a\\..\\..\\evil',
];
const OURS = ['/', '/tasks', '/tasks?filter=a%20b&x=/y//z', '/.//evil.example', '/%5cevil.example', '/a/../b'];

it('where a sign-in returns to is only what every browser reads as a path of ours', async () => {
  const codeFrom = (returnTo: string) =>
    begin(returnTo).then(
      () => 'begun',
      ({ code }: { code: string }) => code,
    );
  for (const returnTo of REFUSED) expect([returnTo, await codeFrom(returnTo)]).toEqual([returnTo, 'BAD_USER_INPUT']);
  for (const returnTo of OURS) {
    expect([returnTo, await codeFrom(returnTo)]).toEqual([returnTo, 'begun']);
    expect(new URL(returnTo, 'https://tasks.example').origin).toBe('https://tasks.example');
  }
});

it('a code cannot be replaced by another secret', async () => {
  const code = await codeFor();
  for (const guess of ['', code.slice(1), `${code}x`, hashOf(code), VERIFIER])
    expect(codeOf(await signInWith(guess))).toBe('BAD_USER_INPUT');
  await running.query('delete from sign_in_codes');
});
