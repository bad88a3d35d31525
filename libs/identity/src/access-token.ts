import { unauthenticated } from '@taskmesh/errors';
import { jwtVerify, SignJWT, type CryptoKey, type JWTVerifyGetKey, type ResolvedKey } from 'jose';

export const ACCESS_TOKEN_TYPE = 'at+jwt';
const ISSUER = 'taskmesh';
const AUDIENCE = 'taskmesh-api';
/** No access token lives longer: whoever checks one needs not know how long those of an installation do. */
export const ACCESS_TOKEN_MAX_TTL_S = 86_400;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A token that expired no longer ago than this may still join a channel, where it gets nothing until a fresh one comes. */
export const EXPIRED_TOKEN_GRACE_S = 60;

/** What an access token says. Times are Unix seconds. */
export interface AccessTokenClaims {
  userId: string;
  email: string;
  iat: number;
  exp: number;
  /** Same as `userId`. */
  sub: string;
  sid: string;
  jti: string;
}

/** The claims of a token that was found good, and the key that says so. */
export type VerifiedClaims = AccessTokenClaims & ResolvedKey;

/** Signs with ES256; `kid` is how verifiers find the public half. */
export function signAccessToken(
  claims: AccessTokenClaims,
  key: { kid: string; privateKey: CryptoKey },
): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: ACCESS_TOKEN_TYPE, kid: key.kid })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .sign(key.privateKey);
}

/**
 * Checks form, signature, type, issuer, audience, times and lifetime, by default with no leeway. Nothing in the token decides where the key
 * comes from but its `kid`, and `getKey` knows only keys of ours. `graceS` lets one through that expired so many seconds ago.
 * @throws AppError UNAUTHENTICATED
 */
export async function verifyAccessToken(
  token: string,
  getKey: JWTVerifyGetKey,
  nowMs: number,
  graceS = 0,
): Promise<VerifiedClaims> {
  try {
    const { payload, key } = await jwtVerify<Record<string, unknown>>(token, getKey, {
      algorithms: ['ES256'],
      typ: ACCESS_TOKEN_TYPE,
      issuer: ISSUER,
      audience: AUDIENCE,
      currentDate: new Date(nowMs),
      clockTolerance: graceS,
    });
    return { ...checkClaims(payload, nowMs), key };
  } catch (cause) {
    throw unauthenticated(undefined, cause);
  }
}

function checkClaims(payload: Record<string, unknown>, nowMs: number): AccessTokenClaims {
  const { userId, email, iat, exp, sub, sid, jti } = payload;
  if (typeof userId !== 'string' || !UUID.test(userId) || sub !== userId) throw new Error('userId');
  if (typeof email !== 'string' || typeof sid !== 'string' || typeof jti !== 'string') throw new Error('claims');
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) throw new Error('times');
  // Made in the future: a clock that far off, or a forgery. A second covers rounding between two hosts.
  if (Number(iat) > nowMs / 1000 + 1) throw new Error('iat');
  if (Number(exp) - Number(iat) > ACCESS_TOKEN_MAX_TTL_S) throw new Error('exp');
  return { userId, email, iat: Number(iat), exp: Number(exp), sub: userId, sid, jti };
}
