import { randomBytes } from 'node:crypto';
import { hashOf, type OpaqueToken } from '../opaque-token.ts';

/**
 * The tokens of one session begin alike: 96 random bits, and 160 of its own. So one that was used is known for what it is
 * although nothing is kept of it.
 */
export interface NewRefreshToken extends OpaqueToken {
  familyHash: string;
}

const FAMILY_BYTES = 12;
const OWN_BYTES = 20;
/** Base64url has four characters for three bytes. */
const FAMILY_LENGTH = (FAMILY_BYTES / 3) * 4;

/** A token of the same family as `former`; without it, the first of another one. */
export function createRefreshToken(former?: string): NewRefreshToken {
  const family = former?.slice(0, FAMILY_LENGTH) ?? randomBytes(FAMILY_BYTES).toString('base64url');
  const token = family + randomBytes(OWN_BYTES).toString('base64url');
  return { token, hash: hashOf(token), familyHash: hashOf(family) };
}

export function familyHashOf(token: string): string {
  return hashOf(token.slice(0, FAMILY_LENGTH));
}
