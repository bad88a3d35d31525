import type { UserFieldsFragment } from './operations.generated.ts';
import { isRecord } from './storage.ts';

export type User = UserFieldsFragment;

export interface Tokens {
  user: User;
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
 *   signed-in ─ found: none, or left ─► signed-out
 *
 * A page that is signed out stays signed out until somebody signs in on it. Tokens that could not be stored belong to this
 * page alone, so nothing found in the storage replaces them.
 */
export type SessionState =
  | { kind: 'loading' }
  | { kind: 'signed-in'; tokens: Tokens; isStored: boolean }
  /** `userId`: the user of the ended session. `hasSignedOut`: that user has signed out, on this or another page. */
  | { kind: 'signed-out'; userId: string | undefined; hasSignedOut: boolean };

export type SessionEvent =
  /** The tokens that are stored now. `left`: the user who has just signed out on another page. */
  | { kind: 'found'; tokens: Tokens | undefined; left?: string | undefined }
  /** This page has received tokens from the server. */
  | { kind: 'kept'; tokens: Tokens; isStored: boolean }
  /** The user signs out on this page. */
  | { kind: 'left' }
  /** The server has ended the session. */
  | { kind: 'ended' };

export const LOADING: SessionState = { kind: 'loading' };

export function nextSession(state: SessionState, event: SessionEvent): SessionState {
  const userId = userIdOf(state);
  switch (event.kind) {
    case 'kept':
      return { kind: 'signed-in', tokens: event.tokens, isStored: event.isStored };
    case 'left':
    case 'ended':
      return { kind: 'signed-out', userId, hasSignedOut: event.kind === 'left' };
    case 'found': {
      const { tokens, left } = event;
      const hasSignedOut = left !== undefined && left === userId && tokens?.user.id !== left;
      if (state.kind === 'signed-out') return hasSignedOut ? { ...state, hasSignedOut } : state;
      if (state.kind === 'signed-in' && !state.isStored) return state;
      return tokens ? { kind: 'signed-in', tokens, isStored: true } : { kind: 'signed-out', userId, hasSignedOut };
    }
  }
}

function userIdOf(state: SessionState): string | undefined {
  if (state.kind === 'signed-in') return state.tokens.user.id;
  return state.kind === 'signed-out' ? state.userId : undefined;
}

/** Whether a stored value has the format that this version writes. */
export function isTokens(value: unknown): value is Tokens {
  if (!isRecord(value) || !isRecord(value['user'])) return false;
  const texts = [value['accessToken'], value['refreshToken'], ...['id', 'email', 'name'].map(field(value['user']))];
  return texts.every((text) => typeof text === 'string') && Number.isFinite(value['refreshAt']);
}

function field(record: Record<string, unknown>): (name: string) => unknown {
  return (name) => record[name];
}
