import type { Contradiction } from '../faults/history.ts';
import type { Segment } from './segment.ts';

/** A client of the world that wants all changes of its owner, over lost connections. */
export interface Reader {
  come(): void;
  /** Its connection breaks; it comes back after so long. */
  cut(awayMs: number): void;
  /** It reads nothing for so long. */
  stall(ms: number): void;
  /** It comes back with a cursor that is none. */
  forgetCursor(): void;
  /** For good. */
  leave(): void;
  /** What each of its subscriptions delivered. */
  segments(): readonly Segment[];
  /** What contradicts the promise that it has everything by now; and what its earlier subscriptions delivered wrongly. */
  missing(): Contradiction[];
  misreported(): Contradiction[];
}

/** A reader whose token says whose changes it gets. */
export interface ChannelReader extends Reader {
  /** Pushes a token of this owner; one with a short life is followed by a fresh one when it is over. */
  push(owner: string, lifeMs: number): void;
  /** Comes back with a token that has just expired. */
  fade(next: Fading): void;
  /** Leaves the channel and joins it again, on the same socket; `isLate`: its leave comes behind the new join. */
  rejoin(isLate: boolean): void;
}

/** What follows on a join with a token that has just expired. */
export interface Fading {
  /** A fresh token of the same owner comes so much later, */
  freshAfterMs: number;
  /** and another owner's behind that. */
  other?: { owner: string; afterMs: number } | undefined;
}
