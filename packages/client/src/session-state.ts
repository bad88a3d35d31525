import type { UserFieldsFragment } from './operations.generated.ts';
import { isRecord } from './storage.ts';

export type User = UserFieldsFragment;

export interface Tokens {
  user: User;
  accessToken: string;
  refreshToken: string;
  /** A while before the access token expires: Unix milliseconds by this machine's clock. */
  refreshAt: number;
}

/*
 *                       ┌─ kept, found: other tokens ─┐
 *                       ▼                             │
 *              ┌──► signed-in ────────────────────────┘
 *   found      │     │      ▲
 *   loading ───┤     │      │ kept: a sign-in in this page
 *              │     ▼      │
 *              └──► signed-out ──┐
 *                       ▲        │ found: the session was left in another page
 *                       └────────┘
 *
 *   signed-in ─ found: none, or left ─► signed-out
 *
 * A page that is signed out stays so until somebody signs in there. Tokens that the storage could not take are this
 * page's alone, so nothing that is found in the storage replaces them.
 */
export type SessionState =
  | { kind: 'loading' }
  | { kind: 'signed-in'; tokens: Tokens; isStored: boolean }
  /** `userId`: whose session it was. `isLeft`: that user has signed out, here or in another page. */
  | { kind: 'signed-out'; userId: string | undefined; isLeft: boolean };

export type SessionEvent =
  /** What the storage has now. `left`: the user who has just signed out in another page. */
  | { kind: 'found'; tokens: Tokens | undefined; left?: string | undefined }
  /** Tokens that this page has got from the server. */
  | { kind: 'kept'; tokens: Tokens; isStored: boolean }
  /** The user signs out in this page. */
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
      return { kind: 'signed-out', userId, isLeft: event.kind === 'left' };
    case 'found': {
      const { tokens, left } = event;
      const isLeft = left !== undefined && left === userId && tokens?.user.id !== left;
      if (state.kind === 'signed-out') return isLeft ? { ...state, isLeft } : state;
      if (state.kind === 'signed-in' && !state.isStored) return state;
      return tokens ? { kind: 'signed-in', tokens, isStored: true } : { kind: 'signed-out', userId, isLeft };
    }
  }
}

function userIdOf(state: SessionState): string | undefined {
  if (state.kind === 'signed-in') return state.tokens.user.id;
  return state.kind === 'signed-out' ? state.userId : undefined;
}

/** Whether a stored value has the form that this version writes. */
export function isTokens(value: unknown): value is Tokens {
  if (!isRecord(value) || !isRecord(value['user'])) return false;
  const texts = [value['accessToken'], value['refreshToken'], ...['id', 'email', 'name'].map(field(value['user']))];
  return texts.every((text) => typeof text === 'string') && Number.isFinite(value['refreshAt']);
}

function field(record: Record<string, unknown>): (name: string) => unknown {
  return (name) => record[name];
}
