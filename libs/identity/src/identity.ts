import { createHash, randomBytes } from 'node:crypto';

/** What a personal access token permits: only reading, or reading and writing. */
export type TokenScope = 'read' | 'write';

/** Distinguishes personal tokens from JWTs, and lets secret scanners find leaked ones. */
const PREFIX = 'taskmesh_pat_';
const FORM = /^taskmesh_pat_[\w-]{43}$/;

/** 256 random bits. */
export function newPersonalToken(): string {
  return PREFIX + randomBytes(32).toString('base64url');
}

/** Checks only the form, not whether the token is valid. */
export function isPersonalToken(token: string): boolean {
  return FORM.test(token);
}

/** The hash under which a token is stored and looked up. It needs no salt or slow hash: 256 random bits cannot be guessed. */
export function hashPersonalToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * The origin of a request. `ip` is the caller's address (for limits of auth and tasks);
 * `client`, which only auth receives, its user agent, cut to `MAX_CLIENT_LENGTH` characters.
 */
export interface ClientOrigin {
  ip?: string;
  client?: string;
}

/**
 * The caller as authenticated by the gateway: services trust this and nothing else. With a `scope`, the request was made with
 * a personal access token, and `sessionId` is that token's id.
 */
export type Identity =
  | ({ role: 'anonymous' } & ClientOrigin)
  | ({ role: 'user'; userId: string; sessionId: string; scope?: TokenScope } & ClientOrigin)
  | ({ role: 'operator' } & ClientOrigin)
  /** A service on its own behalf, for internal calls. */
  | { role: 'service'; name: string };

/** The longest user agent that we keep. */
export const MAX_CLIENT_LENGTH = 255;

export const ANONYMOUS: Identity = { role: 'anonymous' };

/** Clocks of services may differ by this much, in both directions. */
export const CLOCK_SKEW_S = 30;
