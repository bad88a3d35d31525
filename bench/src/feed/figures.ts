import { median } from '../figures.ts';
import type { Cell, Stretch } from './cells.ts';
import type { StretchFigures } from './load/messages.ts';
import type { FeedRole } from './targets.ts';

/** One stretch in one round. CPU in milliseconds per delivered message. */
export interface FeedRound extends StretchFigures {
  cpu: Record<FeedRole, number>;
  /** What the process with the sockets holds on to for each of them. */
  bytesPerSocket: number;
}

/** The medians of a stretch's rounds. */
export interface FeedMeasured extends Cell, Stretch {
  cpu: Record<FeedRole, number>;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  messagesPerS: number;
  bytesPerSocket: number;
  rounds: FeedRound[];
}

export function summariseFeed(cell: Cell, stretch: Stretch, rounds: FeedRound[]): FeedMeasured {
  const middle = (of: (round: FeedRound) => number) => median(rounds.map(of));
  const cpu = (role: FeedRole) => middle((round) => round.cpu[role]);
  return {
    ...cell,
    ...stretch,
    cpu: {
      sockets: cpu('sockets'),
      inner: cpu('inner'),
      postgres: cpu('postgres'),
      redis: cpu('redis'),
      kafka: cpu('kafka'),
    },
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p95Ms: middle(({ p95Ms }) => p95Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    messagesPerS: middle(({ messages, seconds }) => messages / seconds),
    bytesPerSocket: middle(({ bytesPerSocket }) => bytesPerSocket),
    rounds,
  };
}
