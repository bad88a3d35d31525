import type { ErrorPolicy } from './socket.ts';
import type { Change, Table } from './table.ts';
import type { Heartbeats, LimitAge } from './timers.ts';

/** The user of a valid token. */
export interface RealtimeUser {
  /** The id of the user whose changes the channels receive. */
  id: string;
  /** Unix seconds. A channel that is joined with a just-expired token waits for a new one. */
  expiresAt: number;
  /** Calls `onEnd` once, when the token stops being valid. Returns a function that stops watching. */
  watch(onEnd: () => void): () => void;
}

/** Why a feed of changes ended: its cursors are no longer valid, its reader is too slow, or the server is stopping. */
export type FeedEnd = 'expired' | 'slow' | 'stopped';

/** Receives one user's changes in order. The functions never throw, and all except `drained` return at once. */
export interface ChangeReader {
  /** Aborted when the channel ends before reading has started. */
  signal?: AbortSignal;
  /** Called before any change for a reader without a cursor, with the cursor at which it starts. */
  onBegin?(cursor: string): void;
  onChange(change: Change): void;
  onEnd(reason: FeedEnd): void;
  /** Resolves when the reader can receive more. A replay must await it between changes. */
  drained(): Promise<void>;
}

/**
 * Reads a user's changes after the cursor or, without a cursor, from now on. Returns a function that stops reading.
 * @throws when reading cannot start; the client is then asked to try again
 */
export type Subscribe = (
  userId: string,
  after: string | undefined,
  reader: ChangeReader,
) => Promise<(() => void) | 'cursor expired'>;

/** Why a channel could not be joined or had to end. */
export type FailureReason = 'cursor_expired' | 'subscription_limit' | 'unavailable' | 'refused';

export interface Metrics {
  /** A channel was joined. The returned function is called when the channel ends. */
  subscribed(): () => void;
  failed(reason: FailureReason): void;
  /** `since` is when the channel started reading (Unix ms): earlier changes are replays. */
  delivered(change: Change, since: number): void;
}

export interface RealtimeOptions extends ErrorPolicy {
  table: Table;
  subscribe: Subscribe;
  tokens: {
    /** Returns the user of a token; undefined if the token is not valid. May accept a token that has just expired. `ip` is the client's. */
    verify(token: string, ip: string): Promise<RealtimeUser | undefined>;
    /** Whether a text has the form of a user's token, which clients may also send as `apikey`. */
    isOfUser(text: string): boolean;
    /** The `apikey` that clients without a token must send. @default any `apikey` is accepted */
    publicKey?: string | undefined;
  };
  limits?: {
    /** Channels per socket. @default 20 */
    channels?: number;
    /** Entries of `postgres_changes` per user, on all sockets. @default 400 */
    bindings?: number;
    /** Messages per second and socket, averaged over ten seconds. @default 20 */
    messagesPerSecond?: number;
  };
  /** Reserves a socket for a user. Returns a function that releases it; undefined if the user has too many. @default no limit */
  takeSocket?(userId: string): (() => void) | undefined;
  /**
   * Reserves memory for a channel whose topic and refs keep this many bytes. Returns a function that releases it; undefined if
   * there is none: the join fails. @default no limit
   */
  takeChannel?(bytes: number, ip: string): (() => void) | undefined;
  /**
   * Reserves memory for a text message before it is parsed. Returns a function that releases it; undefined if memory is short
   * (the socket is closed, and its client reconnects); `invalid` for a message to ignore, because it might never fit.
   * @default no limit
   */
  reserve?(message: Buffer, ip: string): (() => void) | 'invalid' | undefined;
  /** Ends sockets that have reached their maximum age, for example `createAgeLimit`'s result. @default no limit */
  limitAge?: LimitAge;
  /** Runs the compilation of many or long filters, which takes milliseconds. Rejects if it cannot run now. @default at once */
  compile?<Result>(work: () => Result, ip: string): Promise<Result>;
  heartbeats?: Heartbeats;
  metrics?: Metrics;
  /** Unix milliseconds. @default the system's clock */
  now?(): number;
}
