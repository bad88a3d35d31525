import type { AccessTokenClaims } from '@taskmesh/identity';

/** A token that ran out no longer ago than this joins, and waits for a fresh one. */
export const GRACE_S = 60;

/** A user's token; undefined for what clients send in its place: nothing, a public key. */
export function tokenOf(value: unknown, publicKey: string | undefined): string | undefined {
  if (typeof value !== 'string' || value === '' || value.startsWith('sb_')) return undefined;
  if (value === publicKey && !looksLikeToken(value)) return undefined;
  return looksLikeToken(value) || publicKey !== undefined ? value : undefined;
}

/** Three parts: whether it counts is another question. */
function looksLikeToken(value: string): boolean {
  return value.split('.').length === 3;
}

/** Timers are not exact. */
const SLACK_MS = 1_000;

/** What ended a token that counted. */
export function endOf({ exp }: AccessTokenClaims, nowMs: number): string {
  return exp * 1000 <= nowMs + SLACK_MS ? 'Token has expired' : 'The session has ended';
}
