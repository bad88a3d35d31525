import type { UserFieldsFragment } from './operations.generated.ts';
import { isRecord } from './storage.ts';

export type User = UserFieldsFragment;

export interface Tokens {
  user: User;
  /**
   * The user's id and when they signed in. Stays the same when the user signs in again after the server has ended the session,
   * but not after a sign-out, which a suspended page may notice late.
   */
  signInId: string;
  accessToken: string;
  refreshToken: string;
  /** When to refresh the access token, shortly before it expires: Unix milliseconds by this device's clock. */
  refreshAt: number;
}

/*
 *   loading ──── found ──► signed-in or signed-out
 *   signed-in ── found: none, left, ended ──► signed-out
 *   signed-out ─ kept: signed in on this page, found: signed in on another page ──► signed-in
 *
 * After the server has ended a session, the page follows only its user, for whom writes may wait.
 * Tokens that could not be stored belong to this page alone, so nothing found in the storage replaces them.
 */
export type SessionState =
  | { kind: 'loading'; signInId?: undefined; stayId?: undefined }
  /** `stayId`: the id of the stay's first sign-in. A user's stay lasts until a sign-out, over sessions that the server ends. */
  | { kind: 'signed-in'; tokens: Tokens; isStored: boolean; signInId: string; stayId: string }
  /** `signInId`: of the last session. Without `stayId`, its user has signed out, on this or another page. */
  | { kind: 'signed-out'; signInId: string | undefined; stayId: string | undefined };

export type SessionEvent =
  /** The tokens that are stored now. `left`, `signInId`: of a sign-out or sign-in on another page. */
  | { kind: 'found'; tokens: Tokens | undefined; left?: string | undefined; signInId?: string | undefined }
  /** This page has received tokens from the server. */
  | { kind: 'kept'; tokens: Tokens; isStored: boolean }
  /** The user signs out on this page. */
  | { kind: 'left' }
  /** The server has ended the session. */
  | { kind: 'ended' };

export const LOADING: SessionState = { kind: 'loading' };

export function nextSession(state: SessionState, event: SessionEvent): SessionState {
  const { signInId, stayId } = state;
  switch (event.kind) {
    case 'kept':
      return signIn(state, event.tokens, event.isStored);
    case 'left':
    case 'ended':
      return { kind: 'signed-out', signInId, stayId: event.kind === 'left' ? undefined : stayId };
    case 'found': {
      const { tokens, left } = event;
      if (state.kind === 'signed-in' && !state.isStored) return state;
      // After a sign-out on this page, which may not have reached the storage yet, another sign-in is next.
      const isNext = stayId ? userIdOf(stayId) === userIdOf(event.signInId) : event.signInId !== signInId;
      const follows = state.kind !== 'signed-out' || (tokens?.signInId === event.signInId && isNext);
      if (tokens && follows) return signIn(state, tokens, true);
      return { kind: 'signed-out', signInId, stayId: isUpTo(signInId, left) ? undefined : stayId };
    }
  }
}

function signIn(state: SessionState, tokens: Tokens, isStored: boolean): SessionState {
  const { signInId } = tokens;
  const { kind, stayId } = state;
  const isSame = kind === 'signed-in' ? state.signInId === signInId : userIdOf(stayId) === userIdOf(signInId);
  return { kind: 'signed-in', tokens, isStored, signInId, stayId: (isSame && stayId) || signInId };
}

/** Whether it is of the same user, and not later. */
function isUpTo(signInId = '-', last = ''): boolean {
  return userIdOf(last) === userIdOf(signInId) && signInId <= last;
}

export function userIdOf(signInId = ''): string | undefined {
  return signInId.split(' ')[0];
}

/** Whether a stored value has the format that this version writes. */
export function isTokens(value: unknown): value is Tokens {
  if (!isRecord(value) || !isRecord(value['user'])) return false;
  const { id, email, name } = value['user'];
  const { accessToken, refreshToken, signInId = id, refreshAt } = value; // version 0.2.0 stored no `signInId`
  const texts = [accessToken, refreshToken, signInId, id, email, name];
  return texts.every((text) => typeof text === 'string') && Number.isFinite(refreshAt);
}
