import { createHash, randomBytes } from 'node:crypto';

/** A secret known only to its holder, and the hash that the database stores. */
export type OpaqueToken = ReturnType<typeof createOpaqueToken>;

export function createOpaqueToken() {
  /** 256 random bits in base64url: 43 characters. */
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** Needs neither a salt nor a slow hash: 256 random bits cannot be guessed. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
