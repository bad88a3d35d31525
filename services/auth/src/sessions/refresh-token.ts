import { randomBytes } from 'node:crypto';
import { hashOf, type OpaqueToken } from '../opaque-token.ts';

/**
 * All tokens of a session share a random prefix of 96 bits, followed by 160 bits of their own. So a used token can be
 * recognised without being stored.
 */
export interface NewRefreshToken extends OpaqueToken {
  familyHash: string;
}

const FAMILY_BYTES = 12;
const OWN_BYTES = 20;
/** Base64url encodes three bytes as four characters. */
const FAMILY_LENGTH = (FAMILY_BYTES / 3) * 4;

/** Creates a token of the same family as `former`, or else of a new family. */
export function createRefreshToken(former?: string): NewRefreshToken {
  const family = former?.slice(0, FAMILY_LENGTH) ?? randomBytes(FAMILY_BYTES).toString('base64url');
  const token = family + randomBytes(OWN_BYTES).toString('base64url');
  return { token, hash: hashOf(token), familyHash: hashOf(family) };
}

export function familyHashOf(token: string): string {
  return hashOf(token.slice(0, FAMILY_LENGTH));
}
