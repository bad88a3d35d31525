import type { TaskmeshError } from '../errors.ts';
import type { FeedEnd } from '../feed/feed.ts';

/*
 *   idle ─ entered ─► waiting      (the storage has not been read yet)
 *                 ├─► signed-out
 *                 ├─► reading ─ read ─► following ─ standing ─► live
 *                 │      ▲                  ▲
 *                 └──────┼──────────────────┤   (follows at once if the list has been read before)
 *                        │                  │
 *                        └──── resumed ─────┴── pausing ◄── renewed ── renewing
 *
 *   reading, following, live ─ ended ─► pausing      (cut; expired: reads again)
 *                                  ├──► renewing     (the token was refused)
 *                                  └──► failed       (final)
 *   renewing ─ ended ─► pausing or failed
 *   any ─ left ─► idle             (no listener is left, or the user has changed)
 *
 * Only the session knows that no one is signed in: a rejected token alone never leads to signed-out.
 */
export type LiveState = { kind: 'idle' | 'waiting' | 'signed-out' } | { kind: 'failed'; error: TaskmeshError } | Trying;

/** `failures`: how many attempts in a row have failed. */
type Trying =
  | { kind: 'reading' | 'live'; failures: number }
  | { kind: 'following'; failures: number; isFresh: boolean }
  | { kind: 'renewing'; failures: number; next: Next; token: string }
  /** `isRepaired`: the cause has been removed, so the next attempt may follow at once. */
  | { kind: 'pausing'; failures: number; next: Next; isRepaired: boolean; retryAfterMs: number };

type Next = 'reading' | 'following';

export type LiveEvent =
  | { kind: 'entered'; user: 'unknown' | 'none' | 'known'; isRead: boolean }
  | { kind: 'left' | 'read' | 'standing' | 'renewed' | 'resumed' }
  /** The connection has proved stable. */
  | { kind: 'proved' }
  | { kind: 'ended'; end: FeedEnd };

/**
 * idle: without listeners, the list is not updated. loading: the list is being read. live: the list is up to date, or will be once
 * the server has begun to send changes. reconnecting: it may be out of date. signed-out: no one is signed in. failed: permanently, for
 * the reason in `error`.
 */
export type LiveStatus = 'idle' | 'loading' | 'live' | 'reconnecting' | 'signed-out' | 'failed';

export const IDLE: LiveState = { kind: 'idle' };

export function nextLive(state: LiveState, event: LiveEvent): LiveState {
  if (event.kind === 'left') return IDLE;
  if (event.kind === 'entered') return entered(event);
  if (!('failures' in state)) return state;
  const { failures } = state;
  switch (event.kind) {
    case 'read':
      return { kind: 'following', failures, isFresh: true };
    case 'standing':
      return { kind: 'live', failures };
    case 'proved':
      return failures === 0 ? state : { ...state, failures: 0 };
    case 'renewed':
      return pausing(state, true);
    case 'resumed':
      return nextOf(state) === 'reading'
        ? { kind: 'reading', failures }
        : { kind: 'following', failures, isFresh: false };
    case 'ended':
      return ended(state, event.end);
  }
}

export function statusOf(state: LiveState): LiveStatus {
  switch (state.kind) {
    case 'waiting':
    case 'reading':
      return 'loading';
    case 'following':
      return state.isFresh ? 'loading' : 'reconnecting';
    case 'renewing':
    case 'pausing':
      return state.next === 'reading' ? 'loading' : 'reconnecting';
    default:
      return state.kind;
  }
}

function entered({ user, isRead }: Extract<LiveEvent, { kind: 'entered' }>): LiveState {
  if (user === 'unknown') return { kind: 'waiting' };
  if (user === 'none') return { kind: 'signed-out' };
  return isRead ? { kind: 'following', failures: 0, isFresh: false } : { kind: 'reading', failures: 0 };
}

function ended(state: Trying, end: FeedEnd): LiveState {
  switch (end.reason) {
    case 'refused':
      return { kind: 'failed', error: end.error };
    case 'expired':
      return pausing(state, true, 0, 'reading');
    case 'unauthenticated':
      if (end.token === undefined) return pausing(state, false);
      return { kind: 'renewing', failures: state.failures, next: nextOf(state), token: end.token };
    case 'cut':
      return pausing(state, false, end.retryAfterMs);
  }
}

function pausing(state: Trying, isRepaired: boolean, retryAfterMs = 0, next = nextOf(state)): LiveState {
  return { kind: 'pausing', failures: state.failures + 1, next, isRepaired, retryAfterMs };
}

function nextOf(state: Trying): Next {
  if ('next' in state) return state.next;
  return state.kind === 'reading' ? 'reading' : 'following';
}
