import type { Cell } from '../operations.ts';

/** What the load process is told to do, one order after the other. */
export type Order =
  | { do: 'populate'; target: string; url: string; connections: number }
  | ({ do: 'open' } & Cell)
  | { do: 'run'; seconds: number }
  | { do: 'close' };

/** What one stretch of load showed, in figures. */
export interface LoadFigures {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

/** What it answers to each order. */
export type Reply = { figures?: LoadFigures } | { failure: string };
