import { createSigningKey } from '@taskmesh/identity';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { eventually, timingTest } from '@taskmesh/testing';
import {
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  importJWK,
  SignJWT,
  type CryptoKey,
  type JWTHeaderParameters,
} from 'jose';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { openWebSocket, streamChannel, streamGraphqlWs, streamHttp } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const nowS = () => Math.floor(Date.now() / 1000);

let gateway: TestGateway;
let trap: Server;
let trapUrl: string;
let trapHits = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  trap = createServer((_request, response) => {
    trapHits += 1;
    response.end('{"keys":[]}');
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/jwks.json`; // always an AddressInfo for TCP
});
afterAll(async () => {
  await gateway.stop();
  trap.close();
});

const me = (authorization: string, at = gateway) => fetch(`${at.origin}/api/auth/me`, { headers: { authorization } });

const goodClaims = () => ({
  ...{
    userId: USER,
    sub: USER,
    email: 'a@example.com',
    sid: 'session',
    jti: 'token',
    iss: 'taskmesh',
    aud: 'taskmesh-api',
  },
  ...{ iat: nowS(), exp: nowS() + 3_600 },
});

async function signed(claims: Record<string, unknown>, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
  const key = (await importJWK(gateway.auth.key, 'ES256')) as CryptoKey; // elliptic-curve JWKs become CryptoKeys
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: gateway.auth.key.kid ?? '', ...header })
    .sign(key, { crit: { b64: true, odd: true } });
}

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

async function publicKeyText(): Promise<string> {
  const { d: _private, ...publicJwk } = gateway.auth.key;
  return exportSPKI((await importJWK({ ...publicJwk, ext: true }, 'ES256')) as CryptoKey);
}

/** Each produces an `Authorization` header that a client might send. */
const forgeries: Record<string, () => Promise<string> | string> = {
  'an empty header': () => '',
  'a scheme alone': () => 'Bearer',
  'a scheme and a blank': () => 'Bearer ',
  'another scheme': async () => `Basic ${await signed(goodClaims())}`,
  'a scheme that is none': async () => `Token ${await signed(goodClaims())}`,
  'two tokens': async () => `Bearer ${await signed(goodClaims())} ${await signed(goodClaims())}`,
  'a random string': () => 'Bearer zzzz',
  'two parts': async () => `Bearer ${(await signed(goodClaims())).split('.').slice(0, 2).join('.')}`,
  'four parts': async () => `Bearer ${await signed(goodClaims())}.x`,
  'bad base64': async () => `Bearer ${(await signed(goodClaims())).replace('.', '.!!')}`,
  'a header that is no JSON': async () =>
    `Bearer ${encode('no json')}.${(await signed(goodClaims())).split('.').slice(1).join('.')}`,
  'alg none': () => `Bearer ${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(goodClaims())}.`,
  'alg nOnE': () => `Bearer ${encode({ alg: 'nOnE', typ: 'at+jwt', kid: 'key-1' })}.${encode(goodClaims())}.`,
  'an empty signature': async () => `Bearer ${(await signed(goodClaims())).replace(/[^.]+$/, '')}`,
  'HS256 with the public key as secret': async () =>
    `Bearer ${await new SignJWT(goodClaims()).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'key-1' }).sign(new TextEncoder().encode(await publicKeyText()))}`,
  'RS256 with a foreign key': async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    expect(await exportPKCS8(privateKey)).toContain('PRIVATE');
    return `Bearer ${await new SignJWT(goodClaims()).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'key-1' }).sign(privateKey)}`;
  },
  'a foreign key under our kid': async () =>
    `Bearer ${await gateway.auth.token(USER, { key: { ...(await createSigningKey('key-1')) } })}`,
  'an unknown kid': async () => `Bearer ${await gateway.auth.token(USER, { key: await createSigningKey('unknown') })}`,
  'a kid that is a path': async () =>
    `Bearer ${await gateway.auth.token(USER, { key: await createSigningKey('../../etc/passwd') })}`,
  'a kid that is SQL': async () =>
    `Bearer ${await gateway.auth.token(USER, { key: await createSigningKey("' or 1=1 --") })}`,
  'a kid named __proto__': async () =>
    `Bearer ${await gateway.auth.token(USER, { key: await createSigningKey('__proto__') })}`,
  'a jku': async () => {
    const foreign = await createSigningKey('key-9');
    const key = (await importJWK(foreign, 'ES256')) as CryptoKey; // as above
    return `Bearer ${await new SignJWT(goodClaims()).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key-9', jku: trapUrl, x5u: trapUrl }).sign(key)}`;
  },
  'an embedded jwk': async () => {
    const { d: _private, ...jwk } = await createSigningKey('key-9');
    const key = (await importJWK(await createSigningKey('key-9'), 'ES256')) as CryptoKey; // as above
    return `Bearer ${await new SignJWT(goodClaims()).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key-9', jwk }).sign(key)}`;
  },
  'a changed payload': async () => {
    const [header, , signature] = (await signed(goodClaims())).split('.');
    return `Bearer ${header}.${encode({ ...goodClaims(), userId: USER.replace('a', 'b') })}.${signature}`;
  },
  'a changed signature': async () => {
    const [header, payload, signature = ''] = (await signed(goodClaims())).split('.');
    const bytes = Buffer.from(signature, 'base64url');
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    return `Bearer ${header}.${payload}.${bytes.toString('base64url')}`;
  },
  'a signature of zeros': async () =>
    `Bearer ${(await signed(goodClaims())).split('.').slice(0, 2).join('.')}.${Buffer.alloc(64).toString('base64url')}`,
  'a signature in another form': async () =>
    `Bearer ${(await signed(goodClaims())).split('.').slice(0, 2).join('.')}.${Buffer.from('3006020100020100', 'hex').toString('base64url')}`,
  'one that expired a second ago': async () => `Bearer ${await signed({ ...goodClaims(), exp: nowS() - 1 })}`,
  'one that expires now': async () => `Bearer ${await signed({ ...goodClaims(), exp: nowS() })}`,
  'nbf in an hour': async () => `Bearer ${await signed({ ...goodClaims(), nbf: nowS() + 3_600 })}`,
  'iat in an hour': async () => `Bearer ${await signed({ ...goodClaims(), iat: nowS() + 3_600 })}`,
  'a life longer than any of ours': async () =>
    `Bearer ${await signed({ ...goodClaims(), exp: goodClaims().iat + 86_401 })}`,
  'no exp': async () => `Bearer ${await signed({ ...goodClaims(), exp: undefined })}`,
  'exp as text': async () => `Bearer ${await signed({ ...goodClaims(), exp: String(nowS() + 3_600) })}`,
  'exp beyond all numbers': async () => `Bearer ${await signed({ ...goodClaims(), exp: 1e308 })}`,
  'a fractional exp': async () => `Bearer ${await signed({ ...goodClaims(), exp: nowS() + 3_600.5 })}`,
  'a negative exp': async () => `Bearer ${await signed({ ...goodClaims(), exp: -1 })}`,
  'another issuer': async () => `Bearer ${await signed({ ...goodClaims(), iss: 'elsewhere' })}`,
  'another audience': async () => `Bearer ${await signed({ ...goodClaims(), aud: 'tasks' })}`,
  'an internal token': async () =>
    `Bearer ${await signed({ ...goodClaims(), aud: 'auth', role: 'user' }, { typ: 'int+jwt' })}`,
  'no type': async () => `Bearer ${await signed(goodClaims(), { typ: 'JWT' })}`,
  'an unknown crit': async () => `Bearer ${await signed(goodClaims(), { crit: ['odd'], odd: true })}`,
  'a user id that is no UUID': async () => `Bearer ${await signed({ ...goodClaims(), userId: '1', sub: '1' })}`,
  'two user ids that differ': async () =>
    `Bearer ${await signed({ ...goodClaims(), sub: 'b0000000-0000-4000-8000-000000000002' })}`,
  'no session': async () => `Bearer ${await signed({ ...goodClaims(), sid: undefined })}`,
  'no address': async () => `Bearer ${await signed({ ...goodClaims(), email: undefined })}`,
};

describe('a forged token', () => {
  it.each(Object.entries(forgeries))('is refused: %s', async (_name, forge) => {
    const authorization = await forge();
    const response = await me(authorization);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    const { body } = await gateway.graphql('{ me { id } }', { headers: { authorization } });
    expect(body.errors?.[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
  });

  it('makes the gateway ask nobody outside', () => {
    expect(trapHits).toBe(0);
  });

  it('with unknown key ids makes auth hardly any load: ten calls a second at most', async () => {
    const before = gateway.auth.keyCalls();
    const begin = performance.now();
    const strangers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => createSigningKey(`stranger-${index}`)),
    );
    for (const key of strangers)
      expect((await me(`Bearer ${await gateway.auth.token(USER, { key })}`)).status).toBe(401);
    expect(gateway.auth.keyCalls() - before).toBeLessThanOrEqual(2 + (performance.now() - begin) / 100);
  });

  it('beside a good one is refused, in either order', async () => {
    const good = `Authorization: Bearer ${await gateway.auth.token(USER)}`;
    for (const headers of [
      [good, good],
      ['authorization: Bearer zzzz', good],
      [good, 'AUTHORIZATION: Bearer zzzz'],
    ]) {
      expect(
        await raw(gateway.origin, ['GET /api/auth/me HTTP/1.1', 'Host: x', 'Connection: close', ...headers]),
      ).toMatch(/^HTTP\/1\.1 401 /);
    }
  });
});

describe('a good token', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'Bearer '])('is taken with the scheme "%s"', async (scheme) => {
    const response = await me(`${scheme} ${await gateway.auth.token(USER)}`);
    expect(response.status).toBe(200);
  });

  it('outlives the keys that are signed with now', async () => {
    const old = await gateway.auth.token(USER);
    await gateway.auth.rotate();
    const fresh = await gateway.auth.token(USER);
    await eventually(async () => (await me(`Bearer ${fresh}`)).status === 200);
    expect((await me(`Bearer ${old}`)).status).toBe(200);
  });

  it('may live for a day', async () => {
    const iat = nowS();
    expect((await me(`Bearer ${await signed({ ...goodClaims(), iat, exp: iat + 86_400 })}`)).status).toBe(200);
  });

  timingTest('ends with its session at every gateway, with or without what they share', async () => {
    const keyValue = createMemoryKeyValue();
    const first = await startTestGateway({ keyValue });
    const besides = [await startTestGateway({ beside: first, keyValue }), await startTestGateway({ beside: first })];
    const token = await first.auth.token(USER, { claims: { sid: 'to-end' } });
    const sibling = await first.auth.token(USER, { claims: { sid: 'goes-on' } });
    for (const at of [first, ...besides]) expect((await me(`Bearer ${token}`, at)).status).toBe(200);

    const { body } = await first.graphql('mutation { logout }', { token });
    const loggedOut = performance.now();
    expect(body.data).toEqual({ logout: true });
    expect((await me(`Bearer ${token}`, first)).status).toBe(401);
    for (const at of besides)
      await eventually(async () => (await me(`bearer  ${token}`, at)).status === 401, { timeoutMs: 1_000 });
    expect(performance.now() - loggedOut).toBeLessThan(1_000);
    for (const at of [first, ...besides]) expect((await me(`Bearer ${sibling}`, at)).status).toBe(200);
    for (const at of [...besides, first]) await at.stop();
  });

  it('stays refused or taken while auth is away', async () => {
    const at = await startTestGateway();
    const ended = await at.auth.token(USER, { claims: { sid: 'ended' } });
    const living = await at.auth.token(USER);
    at.auth.end('ended');
    await eventually(async () => (await me(`Bearer ${ended}`, at)).status === 401);
    at.auth.failInternal(new Error('auth is away'));
    expect((await me(`Bearer ${ended}`, at)).status).toBe(401);
    expect((await me(`Bearer ${living}`, at)).status).toBe(200);
    expect((await fetch(`${at.origin}/readyz`)).status).toBe(200);
    await at.stop();
  });
});

describe('a key that was removed', () => {
  it('opens nothing any more, whatever was let in with it before, and ends what lives by it', async () => {
    const at = await startTestGateway();
    const old = await at.auth.token(USER);
    expect((await me(`Bearer ${old}`, at)).status).toBe(200);
    const begin = { origin: at.origin, query: 'subscription { taskChanges { sequence } }' };
    const openAll = (token: string) =>
      Promise.all([
        streamGraphqlWs({ ...begin, token }),
        streamChannel({ ...begin, token }),
        streamHttp('sse', { ...begin, token }),
        streamHttp('multipart', { ...begin, token }),
      ]);
    const ending = await openAll(old);
    await at.auth.rotate();
    const fresh = await at.auth.token(USER);
    await eventually(async () => (await me(`Bearer ${fresh}`, at)).status === 200);
    const staying = await openAll(fresh);
    expect(ending.map(({ ended }) => ended)).toEqual(ending.map(() => undefined));

    at.auth.retire();
    const stranger = await at.auth.token(USER, { key: await createSigningKey('stranger') });
    await eventually(async () => {
      await me(`Bearer ${stranger}`, at); // an unknown key triggers a reload, as the passing of time does
      expect((await me(`Bearer ${old}`, at)).status).toBe(401);
    });
    await eventually(() => expect(ending.filter(({ ended }) => !ended)).toEqual([]));
    expect(ending.map(({ ended }) => ended?.code)).toEqual([4403, 4401, undefined, undefined]);
    expect((await me(`Bearer ${fresh}`, at)).status).toBe(200);
    expect(staying.filter(({ ended }) => ended)).toEqual([]);
    await at.stop();
  });
});

describe('a gateway that has not heard from auth yet', () => {
  it('is not ready, and lets nobody in: a token could have been logged out', async () => {
    const other = await startTestGateway();
    const token = await other.auth.token(USER);
    other.auth.failInternal(new Error('auth is away'));
    const at = await startTestGateway({ beside: other, waitUntilReady: false });
    const ready = await fetch(`${at.origin}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'unavailable' });
    expect((await fetch(`${at.origin}/livez`)).status).toBe(200);
    const refused = await me(`Bearer ${token}`, at);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    // 4500 would make graphql-ws clients give up.
    const socket = await openWebSocket(`${at.origin}/graphql`, 'graphql-transport-ws');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
    expect((await closed)[0]).toBe(1013);
    other.auth.failInternal(undefined);
    await eventually(async () => (await fetch(`${at.origin}/readyz`)).status === 200, { timeoutMs: 15_000 });
    expect((await me(`Bearer ${token}`, at)).status).toBe(200);
    await at.stop();
    await other.stop();
  });
});

/** Sends lines verbatim and returns the whole answer. */
function raw(origin: string, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n`),
    );
    let text = '';
    socket
      .on('data', (chunk) => (text += chunk))
      .on('end', () => resolve(text))
      .on('error', reject);
  });
}
