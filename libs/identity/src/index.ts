export { ANONYMOUS, CLIENT_LENGTH, type Identity } from './identity.ts';
export { hashOfPersonalToken, isPersonalToken, newPersonalToken, type TokenScope } from './personal-token.ts';
export { createSigningKey, publicKeys, type KeySet } from './keys.ts';
export {
  createIdentitySigner,
  createIdentityVerifier,
  GATEWAY_ROLES,
  type Callers,
  type IdentitySigner,
  type IdentityVerifier,
} from './internal-token.ts';
export {
  ACCESS_TOKEN_MAX_TTL_S,
  ACCESS_TOKEN_TYPE,
  EXPIRED_TOKEN_GRACE_S,
  signAccessToken,
  verifyAccessToken,
  type AccessTokenClaims,
  type VerifiedClaims,
} from './access-token.ts';
export { CLOCK_SKEW_S } from './clock-skew.ts';
export { ExpiringCache } from './expiring-cache.ts';
