import { AppError, unauthenticated } from '@taskmesh/contracts';
import { jwtVerify, SignJWT, type CryptoKey, type JWTVerifyGetKey, type ResolvedKey } from 'jose';

import { CLOCK_SKEW_S } from './identity.ts';

export const ACCESS_TOKEN_TYPE = 'at+jwt';
const ISSUER = 'taskmesh';
const AUDIENCE = 'taskmesh-api';
/** The longest lifetime that can be configured; verifiers check this limit because they do not know the setting. */
export const ACCESS_TOKEN_MAX_TTL_S = 86_400;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The signature in its only canonical encoding: decoders skip white space and the last character's unused bits. */
const SIGNATURE = /\.[\w-]{85}[AQgw]$/;

/** A token that expired at most this long ago may join a channel, which delivers nothing until a fresh token arrives. */
export const EXPIRED_TOKEN_GRACE_S = 60;

/** Times are Unix seconds. */
export interface AccessTokenClaims {
  userId: string;
  email: string;
  iat: number;
  exp: number;
  sub: string;
  sid: string;
  jti: string;
}

export type VerifiedClaims = AccessTokenClaims & ResolvedKey;

/** Signs with ES256; verifiers find the public key by `kid`. */
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
 * Checks form, signature, type, issuer, audience, times and lifetime. Only the token's `kid` selects the key, and
 * `getKey` knows only our keys. Tokens that expired at most `graceS` seconds ago are accepted.
 * @throws AppError UNAUTHENTICATED, or what `getKey` throws if that is an AppError
 */
export async function verifyAccessToken(
  token: string,
  getKey: JWTVerifyGetKey,
  nowMs: number,
  graceS = 0,
): Promise<VerifiedClaims> {
  try {
    if (!SIGNATURE.test(token)) throw new Error('encoding');
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
    throw cause instanceof AppError ? cause : unauthenticated(undefined, cause);
  }
}

function checkClaims(payload: Record<string, unknown>, nowMs: number): AccessTokenClaims {
  const { userId, email, iat, exp, sub, sid, jti } = payload;
  if (typeof userId !== 'string' || !UUID.test(userId) || sub !== userId) throw new Error('userId');
  if (typeof email !== 'string' || typeof sid !== 'string' || typeof jti !== 'string') throw new Error('claims');
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) throw new Error('times');
  // Issued in the future: a wrong clock or a forgery.
  if (Number(iat) > nowMs / 1000 + CLOCK_SKEW_S) throw new Error('iat');
  if (Number(exp) - Number(iat) > ACCESS_TOKEN_MAX_TTL_S) throw new Error('exp');
  return { userId, email, iat: Number(iat), exp: Number(exp), sub: userId, sid, jti };
}
