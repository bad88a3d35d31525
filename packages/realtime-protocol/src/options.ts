import type { Heartbeats } from './heartbeats.ts';
import type { ErrorPolicy } from './socket.ts';
import type { Change, Table } from './table.ts';

/** The user of a valid token. */
export interface RealtimeUser {
  /** Whose changes the user's channels get. */
  id: string;
  /** Unix seconds. A channel that is joined with a token that has just expired waits for a fresh one. */
  expiresAt: number;
  /** Calls back once, when the token stops being valid. Returns how to stop watching. */
  watch(onEnd: () => void): () => void;
}

/** Why a feed of changes ended by itself: its cursors mean nothing any more, its reader is too slow, or the server stops. */
export type FeedEnd = 'expired' | 'slow' | 'stopped';

/** Receives one user's changes in order. No function throws, and all except `drained` return at once. */
export interface ChangeReader {
  /** For a reader without a cursor: the cursor at which it begins. Called before any change. */
  onBegin?(cursor: string): void;
  onChange(change: Change): void;
  onEnd(reason: FeedEnd): void;
  /** Resolves when the reader can receive more. To be awaited between the changes of a replay. */
  drained(): Promise<void>;
}

/**
 * Reads a user's changes: those after the cursor or, without one, from now on. Returns how to stop.
 * @throws when it cannot begin; clients are asked to try again
 */
export type Subscribe = (
  userId: string,
  after: string | undefined,
  reader: ChangeReader,
) => Promise<(() => void) | 'cursor expired'>;

/** Why a channel could not be joined, or had to end. */
export type FailureReason = 'cursor_expired' | 'subscription_limit' | 'unavailable' | 'refused';

export interface Metrics {
  /** Call the returned function when the channel ends. */
  subscribed(): () => void;
  failed(reason: FailureReason): void;
  /** `since` is when the channel began to read (Unix ms): changes from before are replays. */
  delivered(change: Change, since: number): void;
}

export interface RealtimeOptions extends ErrorPolicy {
  table: Table;
  subscribe: Subscribe;
  tokens: {
    /** The user of a token, by the client's address; undefined when it is not valid. May accept one that has just expired. */
    verify(token: string, ip: string): Promise<RealtimeUser | undefined>;
    /** Whether a text has the form of a user's token, which clients may also send as `apikey`. */
    isOfUser(text: string): boolean;
    /** What clients without a token have to send as `apikey`. @default anything */
    publicKey?: string | undefined;
  };
  limits?: {
    /** Of a socket. @default 20 */
    channels?: number;
    /** Of a user, on all sockets: entries of `postgres_changes`. @default 400 */
    bindings?: number;
    /** Of a socket, averaged over ten seconds. @default 20 */
    messagesPerSecond?: number;
  };
  /** Reserves a socket for a user; undefined when the user has too many. Returns how to release it. @default no limit */
  takeSocket?(userId: string): (() => void) | undefined;
  /**
   * Reserves what a text message and its objects take until it is handled, before it is parsed. Returns how to release it; undefined when
   * there is no room: the socket is closed, and its client comes back; `invalid` for one that is ignored, as it may never have room.
   * @default no limit
   */
  reserve?(message: Buffer, ip: string): (() => void) | 'invalid' | undefined;
  /** Calls `end` when a socket is old enough, and `canResume` allows it. @default never */
  limitAge?(end: () => void, canResume: () => boolean): () => void;
  heartbeats?: Heartbeats;
  metrics?: Metrics;
  /** Unix milliseconds. @default the system's clock */
  now?(): number;
}
