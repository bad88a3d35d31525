import { compare } from 'bcrypt';
import { randomBytes } from 'node:crypto';

/** Of a cost from 4 to 14; valid in PostgreSQL, too. */
export const BCRYPT = /^[$]2[aby][$](0[4-9]|1[0-4])[$][./A-Za-z0-9]{53}$/;

/** What bcrypt reads of a password. */
const MAX_BYTES = 72;

/** Whether another system made this hash. */
export function isBcrypt(passwordHash: string): boolean {
  return BCRYPT.test(passwordHash);
}

/**
 * Compares the password as it was sent, because the other system did not normalise it; bcrypt reads its first 72 bytes only. The
 * variants differ only in old defects with long passwords, which `$2b$` does not have.
 */
export function verifyBcrypt(passwordHash: string, password: string): Promise<boolean> {
  return compare(password, passwordHash.replace(/^\$2[aby]/, '$2b'));
}

/** Whether bcrypt did not look at the end of this password, which may be mistyped. */
export function isPartlyVerified(passwordHash: string, password: string): boolean {
  return isBcrypt(passwordHash) && Buffer.byteLength(password) > MAX_BYTES;
}

/** A random hash that takes as long to verify as `like`, and that no password is known to match. */
export function dummyBcryptHash(like: string): string {
  return like.slice(0, 7) + randomBytes(53).toString('hex').slice(0, 53);
}
