import type { TaskmeshError } from '../errors.ts';
import { errorOf, isPassing, type GraphqlError } from '../errors.ts';
import type { Change } from '../list/known-tasks.ts';
import type { TaskChangesSubscription, TaskChangesSubscriptionVariables } from '../operations.generated.ts';

/** How a subscription ended that its listener did not stop. */
export type FeedEnd =
  /** Come back behind the last cursor, not before `retryAfterMs`. */
  | { reason: 'cut'; retryAfterMs: number }
  /** Nothing goes on from that cursor: the list is to be read anew. */
  | { reason: 'expired' }
  /** This token does not count any more; without one nobody is signed in. */
  | { reason: 'unauthenticated'; token: string | undefined }
  /** Asking again is of no use. */
  | { reason: 'refused'; error: TaskmeshError };

export interface FeedListener {
  /** The server was reached, and is asked. */
  onStanding(): void;
  /** `traceparent` is that of the request that made the change, if it had one. */
  onChange(change: Change, traceparent: string | undefined): void;
  /** Called once, and nothing behind it. */
  onEnd(end: FeedEnd): void;
}

/** Opens a subscription to `taskChanges`. The returned function stops it: its listener hears nothing more. */
export type OpenFeed = (variables: TaskChangesSubscriptionVariables, listener: FeedListener) => () => void;

/** What every transport needs to know. */
export interface FeedDeps {
  /** Of the GraphQL endpoint. */
  url: string;
  token: () => Promise<string | undefined>;
}

/** A server says something every 12 seconds: one that is silent for longer than this is not there any more. */
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
  // A defect may be gone after the next start of the gateway.
  const mayCome = isPassing(error) || error.code === 'INTERNAL_SERVER_ERROR';
  return mayCome ? { reason: 'cut', retryAfterMs: error.retryAfterMs } : { reason: 'refused', error };
}

/** Tells a result. @returns the end, when it is one */
export function tell({ data, errors, extensions }: FeedResult, listener: FeedListener, token: string | undefined) {
  if (errors?.length || !data) return endOf(errors ?? [], token);
  listener.onChange(data.taskChanges, extensions?.traceparent);
  return undefined;
}
