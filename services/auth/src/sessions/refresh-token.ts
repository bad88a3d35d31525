import { createHmac, randomBytes } from 'node:crypto';
import { hashOf, type OpaqueToken } from '../opaque-token.ts';

/**
 * A random prefix of 96 bits that all tokens of a session share, 144 random bits, and a signature of both. So a used
 * token can be recognised without being stored, and no part of a token is enough to forge one.
 */
export interface NewRefreshToken extends OpaqueToken {
  familyHash: string;
  /** Signs the tokens of the session. Useless without one of them. */
  key: string;
}

const FAMILY_BYTES = 12;
const OWN_BYTES = 18;
/** Base64url encodes three bytes as four characters. */
const FAMILY_LENGTH = (FAMILY_BYTES / 3) * 4;
const SIGNED_LENGTH = ((FAMILY_BYTES + OWN_BYTES) / 3) * 4;
const SIGNATURE_LENGTH = 24;

/** Creates a token of the same family as `previous`, or else of a new family. */
export function createRefreshToken(previous?: string, key = randomBytes(32).toString('base64url')): NewRefreshToken {
  const family = previous?.slice(0, FAMILY_LENGTH) ?? randomBytes(FAMILY_BYTES).toString('base64url');
  const signed = family + randomBytes(OWN_BYTES).toString('base64url');
  const token = signed + signatureOf(signed, key);
  return { token, hash: hashOf(token), familyHash: hashOf(family), key };
}

export function familyHashOf(token: string): string {
  return hashOf(token.slice(0, FAMILY_LENGTH));
}

/** Whether exactly this token was issued with `key`. Compares hashes, so that timing reveals nothing about the signature. */
export function isSigned(token: string, key: string): boolean {
  const signed = token.slice(0, SIGNED_LENGTH);
  return hashOf(token) === hashOf(signed + signatureOf(signed, key));
}

function signatureOf(signed: string, key: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url').slice(0, SIGNATURE_LENGTH);
}
