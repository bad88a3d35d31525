import { importJWK, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { ANONYMOUS, type Identity } from './identity.ts';
import { createIdentitySigner, createIdentityVerifier, GATEWAY_ROLES } from './internal-token.ts';
import { createSigningKey, publicKeys } from './keys.ts';

const START_MS = 1_800_000_000_000;
const NOW_S = START_MS / 1000;
const ADA: Identity = { role: 'user', userId: 'ada', sessionId: 'session', ip: '192.0.2.1' };

let gatewayKey: JWK;
let backupKey: JWK;
const clock = { ms: START_MS, now: () => clock.ms };

beforeAll(async () => {
  [gatewayKey, backupKey] = [await createSigningKey('gateway-1'), await createSigningKey('backup-1')];
});
beforeEach(() => void (clock.ms = START_MS));

const createVerifier = (more: JWK[] = []) =>
  createIdentityVerifier({
    audience: 'tasks',
    keys: publicKeys({ keys: [gatewayKey, backupKey, ...more] }),
    callers: { gateway: GATEWAY_ROLES, backup: ['service'] },
    clock,
  });
const createSigner = (issuer: string, key: JWK) => createIdentitySigner({ issuer, key, clock });

async function forge(
  options: { claims?: JWTPayload; header?: Partial<JWTHeaderParameters>; key?: JWK; without?: string[] } = {},
): Promise<string> {
  const { claims, header, key = gatewayKey, without = [] } = options;
  const good = { role: 'user', sub: 'ada', sid: 'session', iss: 'gateway', aud: 'tasks', iat: NOW_S, exp: NOW_S + 60 };
  const said = Object.entries({ ...good, ...claims }).filter(([name]) => !without.includes(name));
  return new SignJWT(Object.fromEntries(said))
    .setProtectedHeader({ alg: 'ES256', typ: 'int+jwt', kid: key.kid, ...header })
    .sign((await importJWK(key, 'ES256')) as CryptoKey); // an elliptic-curve JWK imports as a CryptoKey
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const REFUSED = { code: 'UNAUTHENTICATED' };

describe('an internal token', () => {
  it.each<Identity>([
    ANONYMOUS,
    { role: 'anonymous', ip: '192.0.2.1' },
    { role: 'anonymous', ip: '192.0.2.1', client: 'Taskmesh CLI/1.0 (Linux) é' },
    ADA,
    { ...ADA, scope: 'read' },
    { ...ADA, scope: 'write' },
    { role: 'operator' },
    { role: 'service', name: 'gateway' },
  ])('contains the identity of the caller: %j', async (identity) => {
    const token = await createSigner('gateway', gatewayKey).tokenFor(identity, 'tasks');
    expect(await createVerifier().verify(token)).toEqual(identity);
  });

  it('omits an address and a client that are not text', async () => {
    const identity = await createVerifier().verify(await forge({ claims: { ip: 5, client: {} } }));
    expect(Object.keys(identity)).toEqual(['role', 'userId', 'sessionId']);
  });

  it.each<[string, Parameters<typeof forge>[0]]>([
    ['for another service', { claims: { aud: 'auth' } }],
    ['for no service', { without: ['aud'] }],
    ['without an expiry', { without: ['exp'] }],
    ['without a time of issue', { without: ['iat'] }],
    ['without an issuer', { without: ['iss'] }],
    ['without a role', { without: ['role'] }],
    ['of a user without an id', { without: ['sub'] }],
    ['of a user without an id but with a service’s name', { without: ['sub'], claims: { svc: 'gateway' } }],
    ['of a user without a session', { without: ['sid'] }],
    ['of an unknown scope', { claims: { scope: 'admin' } }],
    ['of a scope that is not a string', { claims: { scope: null } }],
    ['of an unknown role', { claims: { role: 'admin' } }],
    ['of an issuer that has no name', { claims: { iss: '' } }],
    ['of an issuer that is a property of every object', { claims: { iss: 'constructor' } }],
    ['that has expired', { claims: { iat: NOW_S - 90, exp: NOW_S - 30 } }],
    ['that is not yet valid', { claims: { nbf: NOW_S + 31 } }],
    ['that was issued in the future', { claims: { iat: NOW_S + 31, exp: NOW_S + 60 } }],
    ['that is valid for longer than ours', { claims: { exp: NOW_S + 61 } }],
    ['whose expiry is not a number', { claims: { exp: 'never' as unknown as number } }],
    ['of another type', { header: { typ: 'at+jwt' } }],
    ['of no type', { header: { typ: undefined } }],
    ['without a key id', { header: { kid: undefined } }],
    ['of an unknown key id', { header: { kid: 'gateway-2' } }],
    ['under the key id of another key', { header: { kid: 'backup-1' }, claims: { iss: 'backup' } }],
  ])('%s is refused', async (_what, options) => {
    await expect(createVerifier().verify(await forge(options))).rejects.toMatchObject(REFUSED);
  });

  it.each(['', 'nonsense', 'a.b.c', '..'])('that is %j is refused', async (token) => {
    await expect(createVerifier().verify(token)).rejects.toMatchObject(REFUSED);
  });

  it('whose claims or signature were changed is refused', async () => {
    const [header = '', claims = '', signature = ''] = (await forge()).split('.');
    const more = encoded({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), role: 'operator' });
    const other = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const token of [`${header}.${more}.${signature}`, `${header}.${claims}.${other}`, `${header}.${claims}.`])
      await expect(createVerifier().verify(token)).rejects.toMatchObject(REFUSED);
  });

  it('that is unsigned, or signed with the public key as a secret, is refused', async () => {
    const [, claims = ''] = (await forge()).split('.');
    const unsigned = `${encoded({ alg: 'none', typ: 'int+jwt', kid: 'gateway-1' })}.${claims}.`;
    const payload = JSON.parse(Buffer.from(claims, 'base64url').toString()) as JWTPayload;
    const secret = Buffer.from(JSON.stringify(publicKeys({ keys: [gatewayKey] }).keys[0]));
    const header = { alg: 'HS256', typ: 'int+jwt', kid: 'gateway-1' };
    const symmetric = await new SignJWT(payload).setProtectedHeader(header).sign(secret);
    for (const token of [unsigned, symmetric])
      await expect(createVerifier().verify(token)).rejects.toMatchObject(REFUSED);
  });
});

describe('the permission to assert an identity', () => {
  it.each<JWTPayload>([{}, { role: 'operator' }, { role: 'anonymous' }, { role: 'service', svc: 'gateway' }])(
    'depends on the key: the one of backup cannot assert %j',
    async (claims) => {
      for (const iss of ['backup', 'gateway', 'back', 'backup-1']) {
        const token = await forge({ claims: { ...claims, iss }, key: backupKey });
        await expect(createVerifier().verify(token)).rejects.toMatchObject(REFUSED);
      }
    },
  );

  it('is checked at startup: a signer rejects a key with another service’s name', () => {
    for (const kid of ['backup-1', 'gateway2', 'none', undefined]) {
      const create = () => createIdentitySigner({ issuer: 'gateway', key: { ...gatewayKey, kid }, clock });
      expect(create).toThrow('The identity key of gateway needs "gateway" or "gateway-…" as its kid.');
    }
  });

  it('lets a service speak for itself', async () => {
    const itself: Identity = { role: 'service', name: 'backup' };
    const token = await createSigner('backup', backupKey).tokenFor(itself, 'tasks');
    expect(await createVerifier().verify(token)).toEqual(itself);
    const other = await createSigner('gateway', gatewayKey).tokenFor(itself, 'tasks');
    await expect(createVerifier().verify(other)).rejects.toMatchObject(REFUSED);
  });

  it('rejects a caller that the service does not know, even with a valid key', async () => {
    const keys = publicKeys({ keys: [backupKey] });
    const verifier = createIdentityVerifier({ audience: 'backup', keys, callers: { gateway: GATEWAY_ROLES }, clock });
    const token = await createSigner('backup', backupKey).tokenFor({ role: 'service', name: 'backup' }, 'backup');
    await expect(verifier.verify(token)).rejects.toMatchObject(REFUSED);
  });
});

describe('the lifetime of an internal token', () => {
  it('ends to the second, even for a cached token', async () => {
    const token = await forge();
    const verifier = createVerifier();
    await verifier.verify(token);
    clock.ms = START_MS + 89_999;
    for (const each of [verifier, createVerifier()]) expect(await each.verify(token)).toMatchObject({ role: 'user' });
    clock.ms = START_MS + 90_000;
    for (const each of [verifier, createVerifier()]) await expect(each.verify(token)).rejects.toMatchObject(REFUSED);
  });

  it('may begin slightly in the future, because the clocks of hosts differ', async () => {
    const token = await forge({ claims: { iat: NOW_S + 30, exp: NOW_S + 60 } });
    expect(await createVerifier().verify(token)).toMatchObject({ role: 'user' });
  });

  it.each([-30, 30])('tolerates a clock that differs by %i s, even for a reused token', async (skewS) => {
    const token = await createSigner('gateway', gatewayKey).tokenFor(ADA, 'tasks');
    for (const ageS of [0, 40]) {
      clock.ms = START_MS + (ageS + skewS) * 1_000;
      expect(await createVerifier().verify(token)).toMatchObject({ role: 'user' });
    }
  });

  it('is always long enough for a call, and a token is reused for 40 s', async () => {
    const signer = createSigner('gateway', gatewayKey);
    const first = await signer.tokenFor(ADA, 'tasks');
    clock.ms = START_MS + 39_999;
    expect(await signer.tokenFor(ADA, 'tasks')).toBe(first);
    clock.ms = START_MS + 40_000;
    const second = await signer.tokenFor(ADA, 'tasks');
    expect(second).not.toBe(first);
    clock.ms = START_MS + 99_000;
    expect(await createVerifier().verify(second)).toEqual(ADA);
  });

  it('is not shared with another identity or service', async () => {
    const signer = createSigner('gateway', gatewayKey);
    const others: Identity[] = [{ ...ADA, sessionId: 'other' }, { ...ADA, ip: '192.0.2.2' }, { role: 'anonymous' }];
    const tokens = await Promise.all([ADA, ...others].map((identity) => signer.tokenFor(identity, 'tasks')));
    expect(new Set([...tokens, await signer.tokenFor(ADA, 'auth')]).size).toBe(5);
  });
});
