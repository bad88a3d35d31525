import { importJWK, SignJWT, type CryptoKey } from 'jose';
import { ACCESS_TOKEN_MAX_TTL_S, signAccessToken, verifyAccessToken } from './access-token.ts';
import { createSigningKey, publicKeys } from './keys.ts';

const NOW_S = 1_800_000_000;
const USER = 'a0000000-0000-4000-8000-000000000001';
const CLAIMS = { userId: USER, sub: USER, email: 'a@x', sid: 'session', jti: 'token', iat: NOW_S, exp: NOW_S + 900 };
const NO_UUIDS = [
  USER.toUpperCase(),
  ` ${USER}`,
  `${USER}0`,
  USER.replaceAll('-', ''),
  ...[0, 9, 14, 19, 24].flatMap((at) => ['', 'g'].map((other) => `${USER.slice(0, at)}${other}${USER.slice(at + 1)}`)),
];
const REFUSED = { code: 'UNAUTHENTICATED' };

let privateKey: CryptoKey;
let key: CryptoKey;
beforeAll(async () => {
  const jwk = await createSigningKey('key-1');
  const imported = (each = jwk) => importJWK(each, 'ES256') as Promise<CryptoKey>; // an elliptic-curve JWK imports as a CryptoKey
  [privateKey, key] = [await imported(), await imported(publicKeys({ keys: [jwk] }).keys[0])];
});

const verify = (token: string, { nowS = NOW_S, graceS }: { nowS?: number; graceS?: number } = {}) =>
  verifyAccessToken(token, () => key, nowS * 1_000, graceS);

function forge(claims: Record<string, unknown> = {}, typ: string | null = 'at+jwt'): Promise<string> {
  return new SignJWT({ ...CLAIMS, iss: 'taskmesh', aud: 'taskmesh-api', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'key-1', ...(typ !== null && { typ }) })
    .sign(privateKey);
}

describe('an access token', () => {
  it('reports what was signed, and the key that says so', async () => {
    const token = await signAccessToken(CLAIMS, { kid: 'key-1', privateKey });
    expect(await verify(token)).toEqual({ ...CLAIMS, key });
  });

  it('is looked up by its key id', async () => {
    const token = await signAccessToken(CLAIMS, { kid: 'key-1', privateKey });
    const asked: unknown[] = [];
    await verifyAccessToken(token, (header) => (asked.push(header), key), NOW_S * 1_000);
    expect(asked).toEqual([{ alg: 'ES256', typ: 'at+jwt', kid: 'key-1' }]);
  });

  it('is one that the tests below can spoil', async () => {
    expect(await verify(await forge())).toMatchObject({ userId: USER });
  });

  it.each<{ what: string; claims?: Record<string, unknown>; typ?: string | null }>([
    ...['iss', 'aud', 'iat', 'exp', 'sub', 'sid', 'jti', 'userId', 'email'].map((name) => ({
      what: `without ${name}`,
      claims: { [name]: undefined },
    })),
    ...['sid', 'jti', 'email'].map((name) => ({ what: `whose ${name} is a number`, claims: { [name]: 5 } })),
    { what: 'of another issuer', claims: { iss: 'elsewhere' } },
    { what: 'for another audience', claims: { aud: 'tasks' } },
    { what: 'of another type', typ: 'int+jwt' },
    { what: 'of no type', typ: null },
    { what: 'of a subject that is another user', claims: { sub: USER.replace('a', 'b') } },
    { what: 'with a broken beginning', claims: { iat: NOW_S - 0.5 } },
    { what: 'with a broken end', claims: { exp: NOW_S + 900.5 } },
    { what: 'that is over', claims: { iat: NOW_S - 900, exp: NOW_S } },
    { what: 'that was made in the future', claims: { iat: NOW_S + 31 } },
    { what: 'that lives longer than any of ours', claims: { exp: NOW_S + ACCESS_TOKEN_MAX_TTL_S + 1 } },
    ...NO_UUIDS.map((id) => ({ what: `of the user "${id}"`, claims: { userId: id, sub: id } })),
  ])('$what is refused', async ({ claims, typ }) => {
    await expect(verify(await forge(claims, typ))).rejects.toMatchObject(REFUSED);
  });

  it('signed in another way is refused', async () => {
    const secret = new TextEncoder().encode('0123456789abcdef0123456789abcdef');
    const token = await new SignJWT({ ...CLAIMS, iss: 'taskmesh', aud: 'taskmesh-api' })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'key-1' })
      .sign(secret);
    await expect(verifyAccessToken(token, () => secret, NOW_S * 1_000)).rejects.toMatchObject(REFUSED);
  });
});

describe('the time of an access token', () => {
  it('may begin 30 s later than now, as clocks differ, and be as long as a day', async () => {
    expect(await verify(await forge({ iat: NOW_S + 30 }))).toMatchObject({ userId: USER });
    expect(await verify(await forge({ exp: NOW_S + ACCESS_TOKEN_MAX_TTL_S }))).toMatchObject({ userId: USER });
    await expect(verify(await forge({ iat: NOW_S + 30 }), { nowS: NOW_S - 0.5 })).rejects.toMatchObject(REFUSED);
  });

  it('ends with the second of its end, later only for who grants that', async () => {
    const token = await forge();
    expect(await verify(token, { nowS: NOW_S + 899 })).toMatchObject({ userId: USER });
    await expect(verify(token, { nowS: NOW_S + 900 })).rejects.toMatchObject(REFUSED);
    expect(await verify(token, { nowS: NOW_S + 959, graceS: 60 })).toMatchObject({ userId: USER });
    await expect(verify(token, { nowS: NOW_S + 960, graceS: 60 })).rejects.toMatchObject(REFUSED);
  });
});
