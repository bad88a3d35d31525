import { unauthenticated } from '@taskmesh/errors';
import { importJWK, jwtVerify, SignJWT, type CryptoKey, type JWK } from 'jose';
import { ExpiringCache } from './expiring-cache.ts';
import type { Identity } from './identity.ts';
import type { KeySet } from './keys.ts';

const TYPE = 'int+jwt';
const LIFETIME_S = 60;
/** A cached token is not handed out any more when less than this is left, so that it lives through the call. */
const REUSE_MARGIN_S = 20;
const CACHE_SIZE = 20_000;

interface Clock {
  now(): number;
}

export interface IdentitySigner {
  /** A token that tells `audience` (a service's name) who asks. Valid for 60 s; the same one is reused for 40 s. */
  tokenFor(identity: Identity, audience: string): Promise<string>;
}

export interface IdentityVerifier {
  /** @throws AppError UNAUTHENTICATED for anything but a living token that a known signer made for this service. */
  verify(token: string): Promise<Identity>;
}

/** `issuer` is the calling service's name; `key` its private ES256 JWK with a `kid`. */
export function createIdentitySigner(options: { issuer: string; key: JWK; clock: Clock }): IdentitySigner {
  const { issuer, key, clock } = options;
  const cache = new ExpiringCache<string>(CACHE_SIZE);
  const imported = importJWK(key, 'ES256');

  return {
    async tokenFor(identity, audience) {
      const id = cacheKey(identity, audience);
      const nowS = Math.floor(clock.now() / 1000);
      const known = cache.get(id, nowS);
      if (known) return known;
      const { role, ...rest } = identity;
      const token = await new SignJWT({ role, ...toClaims(rest) })
        .setProtectedHeader({ alg: 'ES256', typ: TYPE, kid: key.kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(nowS)
        .setExpirationTime(nowS + LIFETIME_S)
        .sign(await imported);
      cache.set(id, token, nowS + LIFETIME_S - REUSE_MARGIN_S);
      return token;
    },
  };
}

/** `audience` is this service's name; `keys` the public keys of everybody who may call it. */
export function createIdentityVerifier(options: { audience: string; keys: KeySet; clock: Clock }): IdentityVerifier {
  const { audience, keys, clock } = options;
  const cache = new ExpiringCache<Identity>(CACHE_SIZE);
  const imported = new Map<string, Promise<CryptoKey | Uint8Array>>();
  for (const key of keys.keys) if (key.kid) imported.set(key.kid, importJWK(key, 'ES256'));

  return {
    async verify(token) {
      const nowS = Math.floor(clock.now() / 1000);
      const known = cache.get(token, nowS);
      if (known) return known;
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => keyOf(imported, kid), {
          algorithms: ['ES256'],
          typ: TYPE,
          audience,
          requiredClaims: ['exp', 'iat', 'iss', 'role'],
          currentDate: new Date(clock.now()),
        });
        const identity = fromClaims(payload);
        cache.set(token, identity, payload.exp ?? nowS);
        return identity;
      } catch (cause) {
        throw unauthenticated('Not a valid identity token.', cause);
      }
    },
  };
}

function keyOf(keys: Map<string, Promise<CryptoKey | Uint8Array>>, kid: string | undefined) {
  const key = kid === undefined ? undefined : keys.get(kid);
  if (!key) throw new Error('unknown key id');
  return key;
}

function cacheKey(identity: Identity, audience: string): string {
  return JSON.stringify([audience, identity]);
}

/** JWT names: `sub` and `sid` as registered, `svc` for a service's own name. */
function toClaims(rest: { userId?: string; sessionId?: string; ip?: string; name?: string }) {
  return { sub: rest.userId, sid: rest.sessionId, ip: rest.ip, svc: rest.name };
}

function fromClaims(claims: Record<string, unknown>): Identity {
  const { role, sub, sid, ip, svc } = claims;
  const address = typeof ip === 'string' ? { ip } : {};
  if (role === 'anonymous' || role === 'operator') return { role, ...address };
  if (role === 'user' && typeof sub === 'string' && typeof sid === 'string')
    return { role, userId: sub, sessionId: sid, ...address };
  if (role === 'service' && typeof svc === 'string') return { role, name: svc };
  throw new Error('claims of no known role');
}
