import { unauthenticated } from '@taskmesh/contracts';
import { detached, type Clock } from '@taskmesh/service';
import { importJWK, jwtVerify, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { CLOCK_SKEW_S, type Identity, type TokenScope, type ClientOrigin } from './identity.ts';
import { ExpiringCache } from './expiring-cache.ts';
import type { KeySet } from './keys.ts';

const TYPE = 'int+jwt';
const LIFETIME_S = 60;
/** A cached token is reused only while it is valid for longer than this, so that it outlives the call. */
const REUSE_MARGIN_S = 20;
/** A client can have its own tokens by its user agents: each takes up to 1.5 KB. */
const CACHE_SIZE = 5_000;

export type IdentitySigner = ReturnType<typeof createIdentitySigner>;

export type IdentityVerifier = ReturnType<typeof createIdentityVerifier>;

/**
 * `issuer` is the calling service's name; `key` its private ES256 JWK, whose `kid` must name the issuer (see `isKeyOf`).
 * @throws when the `kid` names another service, because no verifier would accept the tokens
 */
export function createIdentitySigner(options: { issuer: string; key: JWK; clock: Clock }) {
  const { issuer, key, clock } = options;
  if (!isKeyOf(issuer, key.kid))
    throw new Error(`The identity key of ${issuer} needs "${issuer}" or "${issuer}-…" as its kid.`);
  const cache = new ExpiringCache<string>(CACHE_SIZE);
  const imported = importJWK(key, 'ES256');

  return {
    /** A token with the identity of the caller for `audience` (a service's name). Valid for 60 s, reused for 40 s. */
    async tokenFor(identity: Identity, audience: string) {
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
      cache.set(id, detached(token), { until: nowS + LIFETIME_S - REUSE_MARGIN_S, now: nowS }); // jose concatenates it
      return token;
    },
  };
}

/** The roles that each calling service may assert, by service name. */
export type Callers = Readonly<Record<string, readonly Identity['role'][]>>;

/** The gateway speaks for its clients; any other service only for itself. */
export const GATEWAY_ROLES: readonly Identity['role'][] = ['anonymous', 'user', 'operator', 'service'];

export function createIdentityVerifier(options: { audience: string; keys: KeySet; callers: Callers; clock: Clock }) {
  const { audience, keys, callers, clock } = options;
  const cache = new ExpiringCache<Identity>(CACHE_SIZE);
  const imported = new Map<string, Promise<CryptoKey | Uint8Array>>();
  for (const key of keys.keys) if (key.kid) imported.set(key.kid, importJWK(key, 'ES256'));

  return {
    /** @throws AppError UNAUTHENTICATED unless the token is unexpired and a known signer made it for this service. */
    async verify(token: string) {
      const nowS = Math.floor(clock.now() / 1000);
      const known = cache.get(token, nowS);
      if (known) return known;
      try {
        const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => keyOf(imported, kid), {
          algorithms: ['ES256'],
          typ: TYPE,
          audience,
          requiredClaims: ['exp', 'iat', 'iss', 'role'],
          currentDate: new Date(clock.now()),
          clockTolerance: CLOCK_SKEW_S,
        });
        const identity = Object.freeze(fromClaims(payload));
        checkCaller(payload, { kid: protectedHeader.kid, identity, callers });
        const until = checkExpiry(payload, nowS);
        cache.set(token, identity, { until, now: nowS });
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

/** The `kid` names the key's owner: it is the service's name, optionally followed by a hyphen and more. */
function isKeyOf(service: string, kid = ''): boolean {
  return kid === service || kid.startsWith(`${service}-`);
}

/** @throws when the key is not the issuer's, or the issuer may not assert this identity */
function checkCaller(
  { iss = '' }: JWTPayload,
  { kid, identity, callers }: { kid: string | undefined; identity: Identity; callers: Callers },
): void {
  if (!isKeyOf(iss, kid)) throw new Error('the key is not the issuer’s');
  const roles = Object.hasOwn(callers, iss) ? callers[iss] : undefined;
  if (!roles?.includes(identity.role)) throw new Error('the issuer may not assert this identity here');
  if (identity.role === 'service' && identity.name !== iss) throw new Error('a service may not act for another one');
}

/** Returns until when the token is accepted; jose has checked the expiry. @throws when it was issued in the future or lives too long */
function checkExpiry({ iat = 0, exp = 0 }: JWTPayload, nowS: number): number {
  if (iat > nowS + CLOCK_SKEW_S) throw new Error('issued in the future');
  if (exp - iat > LIFETIME_S) throw new Error('valid for too long');
  return exp + CLOCK_SKEW_S;
}

function cacheKey(identity: Identity, audience: string): string {
  return JSON.stringify([audience, identity]);
}

/** Uses the registered claim names `sub` and `sid`, and `svc` for a service's name. */
function toClaims(rest: { userId?: string; sessionId?: string; scope?: TokenScope; name?: string } & ClientOrigin) {
  const { userId: sub, sessionId: sid, scope, ip, client, name: svc } = rest;
  return { sub, sid, scope, ip, client, svc };
}

/** @throws for an unknown scope, which must not be treated as a missing one: that permits everything */
function scopeOf(scope: unknown): { scope?: TokenScope } {
  if (scope === undefined) return {};
  if (scope === 'read' || scope === 'write') return { scope };
  throw new Error('an unknown scope');
}

function fromClaims(claims: Record<string, unknown>): Identity {
  const { role, sub, sid, scope, ip, client, svc } = claims;
  const from = { ...(typeof ip === 'string' && { ip }), ...(typeof client === 'string' && { client }) };
  if (role === 'anonymous' || role === 'operator') return { role, ...from };
  if (role === 'user' && typeof sub === 'string' && typeof sid === 'string')
    return { role, userId: sub, sessionId: sid, ...scopeOf(scope), ...from };
  if (role === 'service' && typeof svc === 'string') return { role, name: svc };
  throw new Error('claims of no known role');
}
