export {
  ANONYMOUS,
  CLIENT_LENGTH,
  CLOCK_SKEW_S,
  hashOfPersonalToken,
  isPersonalToken,
  newPersonalToken,
  type Identity,
  type TokenScope,
} from './identity.ts';
export { createSigningKey, isKeySet, isPrivateKey, publicKeys, type KeySet } from './keys.ts';
export { readKeySetFile, readSigningKeyFile } from './keys.ts';
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
export { ExpiringCache } from './expiring-cache.ts';
