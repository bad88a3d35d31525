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

/**
 * From where somebody asks; only auth receives it.
 * `ip` is the caller's address (for its limits), `client` what the caller's program calls itself, at most `CLIENT_LENGTH` characters.
 */
export interface Whereabouts {
  ip?: string;
  client?: string;
}

/**
 * Who asks, as the gateway found out: services trust this and nothing else. With a `scope`, somebody's program asks with a
 * personal token, and `sessionId` is that token's id.
 */
export type Identity =
  | ({ role: 'anonymous' } & Whereabouts)
  | ({ role: 'user'; userId: string; sessionId: string; scope?: TokenScope } & Whereabouts)
  | ({ role: 'operator' } & Whereabouts)
  /** A service on its own behalf, for internal calls. */
  | { role: 'service'; name: string };

/** Of what a program calls itself, more than this says nothing. */
export const CLIENT_LENGTH = 255;

export const ANONYMOUS: Identity = { role: 'anonymous' };

/** Clocks of services may differ by this much, in both directions. */
export const CLOCK_SKEW_S = 30;
