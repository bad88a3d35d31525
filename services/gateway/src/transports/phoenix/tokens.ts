import { ACCESS_TOKEN_TYPE, isPersonalToken, type AccessTokenClaims } from '@taskmesh/identity';
import { decodeJwt, decodeProtectedHeader } from 'jose';

/** Keys that identify an application, not a user. */
export interface PublicKeys {
  /** From the socket's URL; may also be a user's token. */
  apikey: string;
  /** The installation's own key, if it has one. */
  anonKey: string | undefined;
}

/** Far longer than any token of ours. */
const MAX_TOKEN_LENGTH = 4_096;
/** Stands in for a token too long to be worth keeping; refused like any invalid token. */
const NO_TOKEN = 'none';

/** The token to verify; undefined when the client sent nothing or a public key instead. */
export function tokenOf(value: unknown, { apikey, anonKey }: PublicKeys): string | undefined {
  if (typeof value !== 'string' || value === '' || value.startsWith('sb_')) return undefined;
  const isPublic = value === apikey || value === anonKey || hasAnonRole(value);
  if (isPublic && !isMeantForUs(value)) return undefined;
  return value.length > MAX_TOKEN_LENGTH ? NO_TOKEN : value;
}

/** Judged by form or type only; the token is not verified. */
export function isMeantForUs(token: string): boolean {
  if (isPersonalToken(token)) return true;
  try {
    return decodeProtectedHeader(token).typ === ACCESS_TOKEN_TYPE;
  } catch {
    return false;
  }
}

/** A Supabase project's public key may be a JWT with this role. Unverified, as it grants nothing: like no token. */
function hasAnonRole(token: string): boolean {
  try {
    return decodeJwt(token)['role'] === 'anon';
  } catch {
    return false;
  }
}

const SLACK_MS = 1_000;

/** Why a formerly valid token is no longer accepted. */
export function endOf({ exp }: AccessTokenClaims, nowMs: number): string {
  return exp * 1000 <= nowMs + SLACK_MS ? 'Token has expired' : 'The session has ended';
}
