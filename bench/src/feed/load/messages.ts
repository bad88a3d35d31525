import type { Source, Speech } from '../cells.ts';
import type { User } from '../users.ts';
import type { SourceAddresses } from './sources.ts';

export interface FeedLoadOptions {
  url: string;
  sources: SourceAddresses;
  speech: Speech;
  users: User[];
  socketsPerOwner: number;
}

export interface StretchOrder {
  source: Source;
  changesPerS: number;
  seconds: number;
}

/** What the feed's load process is told to do, one order after the other. */
export type FeedOrder = ({ do: 'open' } & FeedLoadOptions) | ({ do: 'run' } & StretchOrder) | { do: 'close' };

/** What one stretch showed. Latencies in milliseconds, of single messages. */
export interface StretchFigures {
  /** That arrived: all that were due, or the run fails. */
  messages: number;
  changes: number;
  /** Until the last one arrived. */
  seconds: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

export type FeedReply = { figures?: StretchFigures } | { failure: string };
