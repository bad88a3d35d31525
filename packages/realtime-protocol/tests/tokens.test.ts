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

describe('what a client gives as its token', () => {
  it.each([
    ['null', null],
    ['nothing', undefined],
    ['an empty text', ''],
    ['no text', { sub: 'ada' }],
    ['a publishable key', 'sb_publishable_x'],
    ['the key of the socket', 'public-key'],
    ['the key of the installation', 'configured'],
    ['the public key of a Supabase project', anonKey],
  ])('is passed over when it is %s', (_what, value) => {
    expect(tokenOf(value, keys('public-key', 'configured'))).toBeUndefined();
  });

  it.each([
    ['an access token', accessToken],
    ['a personal token', personalToken],
    ['an access token that says it is a public key', anonAccessToken],
    ['the secret key of a Supabase project', serviceKey],
    ['a token of somebody else', forged],
    ['nonsense', 'a.b.c'],
    ['some text', 'password'],
  ])('is checked when it is %s', (_what, value) => {
    expect(tokenOf(value, keys('public-key', 'configured'))).toBe(value);
  });

  it('is not kept when it is longer than any of ours, and does not count', () => {
    const long = tokenOf(`a.${'b'.repeat(60_000)}.c`, keys('public-key'));
    expect(long).toBe('none');
  });

  it('is an access token also in the place of the key, and any other token there is the key', () => {
    for (const token of [accessToken, personalToken]) expect(tokenOf(token, keys(token))).toBe(token);
    for (const apikey of [anonKey, serviceKey]) expect(tokenOf(apikey, keys(apikey))).toBeUndefined();
  });
});
