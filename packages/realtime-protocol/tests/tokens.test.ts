import { tokenOf, type PublicKeys } from '../src/join.ts';

const jwt = (header: object, payload: object) =>
  [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.c2lnbmVk';

const anonKey = jwt({ alg: 'HS256', typ: 'JWT' }, { iss: 'supabase', role: 'anon' });
const serviceKey = jwt({ alg: 'HS256', typ: 'JWT' }, { iss: 'supabase', role: 'service_role' });
const accessToken = jwt({ alg: 'ES256', typ: 'at+jwt', kid: '1' }, { sub: 'ada' });
const personalToken = 'pat_bm90LWEtdG9rZW4';
const anonAccessToken = jwt({ alg: 'ES256', typ: 'at+jwt', kid: '1' }, { sub: 'ada', role: 'anon' });
const forged = jwt({ alg: 'none', typ: 'JWT' }, { sub: 'ada', role: 'authenticated' });

const isOfUser = (text: string) => [accessToken, personalToken, anonAccessToken].includes(text);
const keys = (apikey: string, publicKey?: string): PublicKeys => ({ apikey, publicKey, isOfUser });

describe('the token of a client', () => {
  it.each([
    ...['', 'sb_publishable_x', 'public-key', 'configured', anonKey, null, undefined, { sub: 'ada' }].map((value) => [
      value,
      undefined,
    ]),
    ...[accessToken, personalToken, anonAccessToken, serviceKey, forged, 'a.b.c', 'password'].map((value) => [
      value,
      value,
    ]),
    [`a.${'b'.repeat(60_000)}.c`, 'none'], // longer than any valid token: not kept
  ])('is ignored if it is none or a public key, and else verified (%#)', (value, token) => {
    expect(tokenOf(value, keys('public-key', 'configured'))).toBe(token);
  });

  it('may be sent as the API key; any other API key is not a token', () => {
    for (const token of [accessToken, personalToken]) expect(tokenOf(token, keys(token))).toBe(token);
    for (const apikey of [anonKey, serviceKey]) expect(tokenOf(apikey, keys(apikey))).toBeUndefined();
  });
});
