import { listen } from '@taskmesh/testing';
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { type Account, type CallOptions, clientOf, type Platform } from './client.ts';
import { expectError, type Envelope } from './shapes.ts';

type Json = Record<string, unknown>;

const encoded = (json: unknown) =>
  Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)).toString('base64url');
const decoded = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Json; // JWT parts are objects

const es256 = (key: KeyObject) => (input: string) =>
  sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });

function jwt(header: unknown, claims: unknown, signature: (input: string) => Buffer): string {
  const input = `${encoded(header)}.${encoded(claims)}`;
  return `${input}.${signature(input).toString('base64url')}`;
}

/** Access tokens, and tokens that must not be accepted as one: signed by others, too early, too late, for other purposes. */
export function describeTokens(platform: () => Platform) {
  const client = clientOf(platform);
  let account: Account;
  let header: Json;
  let claims: Json;
  let ours: KeyObject;
  /** The published public key. */
  let jwk: Json;
  const theirs = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

  beforeAll(async () => {
    account = await client.signUp();
    const parts = account.token.split('.');
    header = decoded(parts[0]);
    claims = decoded(parts[1]);
    const { keys } = JSON.parse(readFileSync(platform().accessKeysFile, 'utf8'));
    ours = createPrivateKey({ key: keys[0], format: 'jwk' });
    const { body } = await client.call<{ keys: Json[] }>('GET', '/.well-known/jwks.json');
    jwk = body.keys.find(({ kid }) => kid === header.kid) ?? {};
  });

  const me = (options: CallOptions) => client.call<Json>('GET', '/api/auth/me', options);
  const expectRefused = async (token: string) => {
    expectError(await me({ token }), expect401('plain'));
    expectError(await client.call('GET', '/full/api/tasks', { token }), expect401('tasks'));
    const { body } = await client.graphql('{ me { id } }', { token });
    expect(body.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UNAUTHENTICATED' }]);
  };
  const expect401 = (envelope: Envelope) => ({ status: 401, code: 'UNAUTHENTICATED', envelope });
  const resigned = (change: Json, head: Json = {}) =>
    jwt({ ...header, ...head }, { ...claims, ...change }, es256(ours));
  const foreign = (head: Json) => jwt({ ...header, ...head }, claims, es256(theirs.privateKey));
  const rs256 = (input: string) => sign('sha256', Buffer.from(input), rsa.privateKey);
  const publicKey = () => createPublicKey(ours);
  const nowS = () => Math.floor(Date.now() / 1_000);

  describe('an access token', () => {
    it('is signed by ES256 with a key of the published set, which has only public keys', async () => {
      expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
      const { id, email } = account;
      const texts = { sid: expect.any(String), jti: expect.any(String), iss: expect.any(String) };
      expect(claims).toMatchObject({ userId: id, sub: id, email, ...texts, aud: expect.anything() });
      expect(jwk).toMatchObject({ kty: 'EC', crv: 'P-256', kid: header.kid });
      const { text } = await client.call('GET', '/.well-known/jwks.json');
      expect(text).not.toMatch(/"d"/);
    });

    it('is accepted if signed again with our key, for at most a day', async () => {
      expect((await me({ token: resigned({ jti: randomUUID() }) })).status).toBe(200);
      const [day, iat] = [86_400, Number(claims.iat)];
      expect((await me({ token: resigned({ exp: iat + day }) })).status).toBe(200);
      await expectRefused(resigned({ exp: iat + day + 1 }));
    });

    it.each<[string, () => string]>([
      ['of one part', () => 'abc'],
      ['of two parts', () => account.token.split('.').slice(0, 2).join('.')],
      ['of four parts', () => `${account.token}.x`],
      ['with an empty signature', () => `${account.token.split('.').slice(0, 2).join('.')}.`],
      ['with a header that is no JSON', () => jwt('nonsense', claims, es256(ours))],
      ['with claims that are no object', () => jwt(header, '[1]', es256(ours))],
      ['with a flipped bit in its claims', () => flipped(account.token, 1)],
      ['with a flipped bit in its signature', () => flipped(account.token, 2)],
      ['with a signature of zeros', () => jwt(header, claims, () => Buffer.alloc(64))],
      ['with a signature in DER', () => jwt(header, claims, (input) => sign('sha256', Buffer.from(input), ours))],
      ['with alg none', () => jwt({ ...header, alg: 'none' }, claims, () => Buffer.alloc(0))],
      ['with alg nOnE and our signature', () => resigned({}, { alg: 'nOnE' })],
      ['with HS256 and the public key as PEM', () => hmac(publicKey().export({ type: 'spki', format: 'pem' }))],
      ['with HS256 and the published JWK', () => hmac(JSON.stringify(jwk))],
      ['with HS256 and nothing', () => hmac('')],
      ['of a foreign key under our kid', () => foreign({})],
      ['of a foreign key under a foreign kid', () => foreign({ kid: 'theirs' })],
      ['of a foreign key that comes along as jwk', () => foreign({ jwk: theirs.publicKey.export({ format: 'jwk' }) })],
      ['with RS256 of a foreign key', () => jwt({ ...header, alg: 'RS256' }, claims, rs256)],
      ['with a kid named __proto__', () => resigned({}, { kid: '__proto__' })],
      ['without a kid', () => resigned({}, { kid: undefined })],
      ['with a kid that is a path', () => resigned({}, { kid: '../../../../dev/null' })],
      ['with an unknown critical header', () => resigned({}, { crit: ['unknown'], unknown: 1 })],
      ['with b64 false', () => resigned({}, { crit: ['b64'], b64: false })],
      ['of type JWT', () => resigned({}, { typ: 'JWT' })],
      ['of no type', () => resigned({}, { typ: undefined })],
      ['of the type of internal tokens', () => resigned({}, { typ: 'int+jwt' })],
      ['with letters outside base64', () => account.token.replace('.', '.!!')],
      ['for somebody else', () => resigned({ aud: 'tasks' })],
      ['without an audience', () => resigned({ aud: undefined })],
      ['by somebody else', () => resigned({ iss: 'gateway' })],
      ['without an issuer', () => resigned({ iss: undefined })],
      ['that expired a second ago', () => resigned({ exp: nowS() - 1 })],
      ['that expires right now', () => resigned({ exp: nowS() })],
      ['made an hour from now', () => resigned({ iat: nowS() + 3_600, exp: nowS() + 7_200 })],
      ['not valid for another hour', () => resigned({ nbf: nowS() + 3_600 })],
      ['without an end', () => resigned({ exp: undefined })],
      ['with an end in words', () => resigned({ exp: String(nowS() + 60) })],
      ['with a broken end', () => resigned({ exp: nowS() + 60.5 })],
      ['with an endless end', () => resigned({ exp: 1e308 })],
      ['without a session', () => resigned({ sid: undefined })],
      ['without a subject', () => resigned({ sub: undefined })],
      ['of a user that is no UUID', () => resigned({ userId: 'x', sub: 'x' })],
      ['of one user for another', () => resigned({ userId: randomUUID() })],
      ['with an e-mail that is no text', () => resigned({ email: 5 })],
    ])('%s is refused', (_what, make) => expectRefused(make()));

    it('cannot make a service fetch a key that it names', async () => {
      let connections = 0;
      const listener = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      const url = `${(await listen(listener)).url}/keys.json`;
      for (const named of [{ jku: url }, { x5u: url }, { jku: url, kid: 'theirs' }, { kid: url }, { iss: url }])
        await expectRefused(foreign(named));
      expect(connections).toBe(0);
    });

    it('cannot be an internal token of the services', async () => {
      const key: Json = JSON.parse(readFileSync(platform().identityKeyFile, 'utf8'));
      const internal = (typ: string, aud: string, more: Json) => {
        const times = { iat: nowS(), exp: nowS() + 60 };
        const signed = es256(createPrivateKey({ key, format: 'jwk' }));
        return jwt({ alg: 'ES256', typ, kid: key.kid }, { ...more, iss: 'gateway', aud, ...times }, signed);
      };
      for (const audience of ['tasks', 'auth', 'backup', String(claims.aud)])
        for (const typ of ['int+jwt', 'at+jwt'])
          await expectRefused(internal(typ, audience, { ...claims, role: 'user' }));
      await expectRefused(internal('int+jwt', 'backup', { role: 'operator' }));
    });

    it('is refused at any length', async () => {
      for (const length of [8_000, 100_000])
        expect([401, 431]).toContain((await me({ token: 'x'.repeat(length) })).status);
    });
  });

  const hmac = (secret: string | Buffer) =>
    jwt({ ...header, alg: 'HS256' }, claims, (input) => createHmac('sha256', secret).update(input).digest());
}

/** Changes one bit in the middle of a part of a token. */
function flipped(token: string, part: 1 | 2): string {
  const parts = token.split('.');
  const bytes = Buffer.from(parts[part] ?? '', 'base64url');
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  return parts.with(part, bytes.toString('base64url')).join('.');
}
