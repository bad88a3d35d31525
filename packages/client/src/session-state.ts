import type { UserFieldsFragment } from './operations.generated.ts';
import { isRecord } from './storage.ts';

export type User = UserFieldsFragment;

export interface Tokens {
  user: User;
  /**
   * The user's id and when they signed in. Stays the same while tokens are refreshed, and when the user signs in again after the
   * server has ended the session. Differs after a sign-out, which a suspended page may notice late.
   */
  signInId: string;
  accessToken: string;
  refreshToken: string;
  /** When to refresh the access token, shortly before it expires: Unix milliseconds by this device's clock. */
  refreshAt: number;
}

/*
 *                       ┌─ kept, found: other tokens ─┐
 *                       ▼                             │
 *              ┌──► signed-in ────────────────────────┘
 *   found      │     │      ▲
 *   loading ───┤     │      │ kept: signed in on this page
 *              │     ▼      │
 *              └──► signed-out ──┐
 *                       ▲        │ found: signed out on another page
 *                       └────────┘
 *
 *   signed-in ─ found: none, or left ─► signed-out ─ found: signed in on another page ─► signed-in
 *
 * After the server has ended a session, the page follows only its user, for whom writes may wait.
 * Tokens that could not be stored belong to this page alone, so nothing found in the storage replaces them.
 */
export type SessionState =
  | { kind: 'loading' }
  | { kind: 'signed-in'; tokens: Tokens; isStored: boolean }
  /** `signInId`: of the ended session. `hasSignedOut`: its user has signed out, on this or another page. */
  | { kind: 'signed-out'; signInId: string | undefined; hasSignedOut: boolean };

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
  const signInId = signInIdOf(state);
  switch (event.kind) {
    case 'kept':
      return { kind: 'signed-in', tokens: event.tokens, isStored: event.isStored };
    case 'left':
    case 'ended':
      return { kind: 'signed-out', signInId, hasSignedOut: event.kind === 'left' };
    case 'found': {
      const { tokens, left } = event;
      if (state.kind === 'signed-in' && !state.isStored) return state;
      const wasSignedOut = state.kind === 'signed-out' && state.hasSignedOut;
      const isNext = wasSignedOut
        ? event.signInId !== signInId // a sign-out on this page may not have reached the storage yet
        : userIdOf(signInId ?? event.signInId) === userIdOf(event.signInId);
      const follows = state.kind !== 'signed-out' || (tokens?.signInId === event.signInId && isNext);
      if (tokens && follows) return { kind: 'signed-in', tokens, isStored: true };
      const hasSignedOut = wasSignedOut || isUpTo(signInId, left);
      return { kind: 'signed-out', signInId, hasSignedOut };
    }
  }
}

function signInIdOf(state: SessionState): string | undefined {
  if (state.kind === 'signed-in') return state.tokens.signInId;
  return state.kind === 'signed-out' ? state.signInId : undefined;
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
