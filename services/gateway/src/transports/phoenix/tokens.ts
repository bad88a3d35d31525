import { ACCESS_TOKEN_TYPE, isPersonalToken, type AccessTokenClaims } from '@taskmesh/identity';
import { decodeJwt, decodeProtectedHeader } from 'jose';

/** What stands for an application, and for no user. */
export interface PublicKeys {
  /** Of the socket's URL; it may also be a user's token. */
  apikey: string;
  /** The one that this installation has, if it has one. */
  anonKey: string | undefined;
}

/** Far longer than any of ours. */
const MAX_TOKEN_LENGTH = 4_096;
/** Stands for one that is too long to be kept until its turn comes: it is refused like any that does not count. */
const NO_TOKEN = 'none';

/** A token to check; undefined for what clients send in its place: nothing, a public key. */
export function tokenOf(value: unknown, { apikey, anonKey }: PublicKeys): string | undefined {
  if (typeof value !== 'string' || value === '' || value.startsWith('sb_')) return undefined;
  const isPublic = value === apikey || value === anonKey || hasAnonRole(value);
  if (isPublic && !isMeantForUs(value)) return undefined;
  return value.length > MAX_TOKEN_LENGTH ? NO_TOKEN : value;
}

/** By its form or type; whether it counts is another question. */
export function isMeantForUs(token: string): boolean {
  if (isPersonalToken(token)) return true;
  try {
    return decodeProtectedHeader(token).typ === ACCESS_TOKEN_TYPE;
  } catch {
    return false;
  }
}

/** The public key of a Supabase project may be a JWT, which says so. Nobody gains anything by it: it is passed over like no token. */
function hasAnonRole(token: string): boolean {
  try {
    return decodeJwt(token)['role'] === 'anon';
  } catch {
    return false;
  }
}

/** Timers are not exact. */
const SLACK_MS = 1_000;

/** What ended a token that counted. */
export function endOf({ exp }: AccessTokenClaims, nowMs: number): string {
  return exp * 1000 <= nowMs + SLACK_MS ? 'Token has expired' : 'The session has ended';
}
