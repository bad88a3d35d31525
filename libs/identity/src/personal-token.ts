import { createHash, randomBytes } from 'node:crypto';

/** What a token that somebody made for a program may do: see, or change, too. */
export type TokenScope = 'read' | 'write';

/** Tells such tokens from JWTs, and finds them where they must not be. */
const PREFIX = 'taskmesh_pat_';
const FORM = /^taskmesh_pat_[\w-]{43}$/;

/** 256 random bits. */
export function newPersonalToken(): string {
  return PREFIX + randomBytes(32).toString('base64url');
}

/** By its form; whether it counts is another question. */
export function isPersonalToken(token: string): boolean {
  return FORM.test(token);
}

/** What is stored, and asked for. No salt and no slow hash: 256 random bits cannot be guessed. */
export function hashOfPersonalToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
