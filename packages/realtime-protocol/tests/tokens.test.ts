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
    ['null', null],
    ['nothing', undefined],
    ['an empty text', ''],
    ['not a string', { sub: 'ada' }],
    ['a publishable key', 'sb_publishable_x'],
    ['the key of the socket', 'public-key'],
    ['the key of the installation', 'configured'],
    ['the public key of a Supabase project', anonKey],
  ])('is ignored if it is %s', (_what, value) => {
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
  ])('is verified if it is %s', (_what, value) => {
    expect(tokenOf(value, keys('public-key', 'configured'))).toBe(value);
  });

  it('is rejected without being kept if it is longer than any valid token', () => {
    const long = tokenOf(`a.${'b'.repeat(60_000)}.c`, keys('public-key'));
    expect(long).toBe('none');
  });

  it('may be sent as the API key; any other API key is not a token', () => {
    for (const token of [accessToken, personalToken]) expect(tokenOf(token, keys(token))).toBe(token);
    for (const apikey of [anonKey, serviceKey]) expect(tokenOf(apikey, keys(apikey))).toBeUndefined();
  });
});
