import type { TaskmeshError } from '../errors.ts';
import { errorOf, isPassing, type GraphqlError } from '../errors.ts';
import type { Change } from '../list/known-tasks.ts';
import type { TaskChangesSubscription, TaskChangesSubscriptionVariables } from '../operations.generated.ts';

/** How a subscription ended by itself. */
export type FeedEnd =
  /** Subscribe again after the last cursor, not before `retryAfterMs`. */
  | { reason: 'cut'; retryAfterMs: number }
  /** The cursor is no longer usable: read the list again. */
  | { reason: 'expired' }
  /** The token is no longer valid; without one, no one is signed in. */
  | { reason: 'unauthenticated'; token: string | undefined }
  /** Asking again is useless. */
  | { reason: 'refused'; error: TaskmeshError };

export interface FeedListener {
  /** The server was reached, and has the subscription. */
  onStanding(): void;
  /** `traceparent` is that of the request that made the change, if it had one. */
  onChange(change: Change, traceparent: string | undefined): void;
  /** Called once; nothing is called after it. */
  onEnd(end: FeedEnd): void;
}

/** Opens a subscription to `taskChanges`. Returns how to stop it, after which its listener is not called. */
export type OpenFeed = (variables: TaskChangesSubscriptionVariables, listener: FeedListener) => () => void;

/** What every transport needs. */
export interface FeedDeps {
  /** The GraphQL endpoint's URL. */
  url: string;
  token: () => Promise<string | undefined>;
}

/** The server sends something every 12 seconds. After this much silence, the connection counts as lost. */
export const SILENCE_MS = 30_000;

/** One result of the subscription. */
export interface FeedResult {
  data?: TaskChangesSubscription | null;
  errors?: GraphqlError[];
  extensions?: { traceparent?: string };
}

export const CUT: FeedEnd = { reason: 'cut', retryAfterMs: 0 };

export function endOf(errors: readonly GraphqlError[], token: string | undefined): FeedEnd {
  return endOfError(errorOf(errors), token);
}

export function endOfError(error: TaskmeshError, token: string | undefined): FeedEnd {
  if (error.code === 'CURSOR_EXPIRED') return { reason: 'expired' };
  if (error.code === 'SIGNED_OUT') return { reason: 'unauthenticated', token: undefined };
  if (error.code === 'UNAUTHENTICATED') return { reason: 'unauthenticated', token };
  // A defect may be gone when the gateway has been restarted.
  const mayCome = isPassing(error) || error.code === 'INTERNAL_SERVER_ERROR';
  return mayCome ? { reason: 'cut', retryAfterMs: error.retryAfterMs } : { reason: 'refused', error };
}

/** Passes on a result. @returns the end, if it is one */
export function tell({ data, errors, extensions }: FeedResult, listener: FeedListener, token: string | undefined) {
  if (errors?.length || !data) return endOf(errors ?? [], token);
  listener.onChange(data.taskChanges, extensions?.traceparent);
  return undefined;
}
