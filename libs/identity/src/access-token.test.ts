import { importJWK, SignJWT, type CryptoKey } from 'jose';
import { verifyAccessToken } from './access-token.ts';
import { createSigningKey, publicKeys } from './keys.ts';

const NOW_S = 1_800_000_000;
const USER = 'a0000000-0000-4000-8000-000000000001';
const CLAIMS = { userId: USER, sub: USER, email: 'a@x', sid: 'session', jti: 'token', iat: NOW_S, exp: NOW_S + 900 };
const REFUSED = { code: 'UNAUTHENTICATED' };

let privateKey: CryptoKey;
let key: CryptoKey;
beforeAll(async () => {
  const jwk = await createSigningKey('key-1');
  const imported = (each = jwk) => importJWK(each, 'ES256') as Promise<CryptoKey>; // an elliptic-curve JWK imports as a CryptoKey
  [privateKey, key] = [await imported(), await imported(publicKeys({ keys: [jwk] }).keys[0])];
});

const verify = (token: string, nowS = NOW_S) => verifyAccessToken(token, () => key, nowS * 1_000);

const forge = (claims = {}): Promise<string> =>
  new SignJWT({ ...CLAIMS, iss: 'taskmesh', aud: 'taskmesh-api', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'key-1', typ: 'at+jwt' })
    .sign(privateKey);

it('the lifetime of an access token may begin up to 30 s in the future, because clocks differ, and last up to a day', async () => {
  expect(await verify(await forge({ iat: NOW_S + 30 }))).toMatchObject({ userId: USER });
  expect(await verify(await forge({ exp: NOW_S + 86_400 }))).toMatchObject({ userId: USER });
  await expect(verify(await forge({ iat: NOW_S + 30 }), NOW_S - 0.5)).rejects.toMatchObject(REFUSED);
});

it('an access token is accepted in one encoding only, because gateways cache tokens by their text', async () => {
  const token = await forge();
  const lastBits = { A: 'B', Q: 'R', g: 'h', w: 'x' }[token.slice(-1)] ?? ''; // four bits of it are unused
  for (const other of [
    `${token} `,
    `${token}\n`,
    `${token}==`,
    token.replace(/.(?=.{9}$)/, ' $&'),
    token.slice(0, -1) + lastBits,
  ])
    await expect(verify(other)).rejects.toMatchObject(REFUSED);
});
