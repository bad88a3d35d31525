import { errorOf, isTransient, isUnprocessed, type GraphqlError, type TaskmeshError } from '../errors.ts';
import type { Change } from '../list/known-tasks.ts';
import type { TaskChangesSubscription, TaskChangesSubscriptionVariables } from '../operations.generated.ts';

/** Why a subscription ended without being stopped. */
export type FeedEnd =
  /** Subscribe again after the last cursor, not before `retryAfterMs`. */
  | { reason: 'cut'; retryAfterMs: number }
  /** The cursor is no longer usable: read the list again. */
  | { reason: 'expired' }
  /** The server rejected `token`; undefined when no one is signed in. */
  | { reason: 'unauthenticated'; token: string | undefined }
  /** A retry would fail, too. */
  | { reason: 'refused'; error: TaskmeshError };

export interface FeedListener {
  /** The server is connected and has the subscription. */
  onSubscribed(): void;
  /** `traceparent` identifies the request that made the change, if the request had one. */
  onChange(change: Change, traceparent: string | undefined): void;
  /** Called at most once, as the last call. */
  onEnd(end: FeedEnd): void;
}

/** Subscribes to `taskChanges`. Returns a function that unsubscribes; the listener is not called afterwards. */
export type OpenFeed = (variables: TaskChangesSubscriptionVariables, listener: FeedListener) => () => void;

/** Dependencies of every transport. */
export interface FeedDeps {
  /** The GraphQL endpoint's URL. */
  url: string;
  token: () => Promise<string | undefined>;
}

/** The server sends something every 12 seconds. A connection that is silent for this long is treated as lost. */
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
  // An internal error may disappear when the gateway restarts.
  const mayCome = isTransient(error) || isUnprocessed(error) || error.code === 'INTERNAL_SERVER_ERROR';
  return mayCome ? { reason: 'cut', retryAfterMs: error.retryAfterMs } : { reason: 'refused', error };
}

/** Passes a result to the listener. @returns how the subscription ended, if the result ends it */
export function deliverResult(
  { data, errors, extensions }: FeedResult,
  listener: FeedListener,
  token: string | undefined,
) {
  if (errors?.length || !data) return endOf(errors ?? [], token);
  listener.onChange(data.taskChanges, extensions?.traceparent);
  return undefined;
}
