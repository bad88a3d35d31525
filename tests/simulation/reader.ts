import type { Contradiction } from '../faults/history.ts';
import type { Segment } from './segment.ts';

/** A simulated client that needs all changes of its owner, even if connections are lost. */
export interface Reader {
  come(): void;
  /** Breaks the connection. The client comes back after `awayMs`. */
  cut(awayMs: number): void;
  /** Stops reading for this time. */
  stall(ms: number): void;
  /** Replaces the cursor with an invalid one, for the next connection. */
  forgetCursor(): void;
  /** Disconnects for good. */
  leave(): void;
  /** The changes that each subscription delivered. */
  segments(): readonly Segment[];
  /** Reports everything that the client should have by now, but does not. `misreported`: errors of earlier subscriptions. */
  missing(): Contradiction[];
  misreported(): Contradiction[];
}

/** A reader of the changes of the owner in its token. */
export interface ChannelReader extends Reader {
  /** Pushes a token of this owner. A short-lived one is followed by a fresh one just before it expires. */
  push(owner: string, lifeMs: number): void;
  /** Reconnects with a token that has just expired. */
  fade(next: Fading): void;
  /** Leaves the channel and joins it again on the same socket. `isLate`: the leave arrives after the new join. */
  rejoin(isLate: boolean): void;
}

/** The tokens that follow a join with an expired one. */
export interface Fading {
  /** The delay of a fresh token of the same owner. */
  freshAfterMs: number;
  /** Another owner, whose token follows after that. */
  other?: { owner: string; afterMs: number } | undefined;
}
