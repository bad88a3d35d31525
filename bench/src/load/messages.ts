import type { Cell } from '../operations.ts';

/** What to open, at a target by the name that it was populated by. */
export type Opening = Omit<Cell, 'target'> & { target: string };

/** What the load process is told to do, one order after the other. */
export type Order =
  | { do: 'populate'; target: string; url: string; connections: number }
  | ({ do: 'open' } & Opening)
  | { do: 'run'; seconds: number }
  | ({ do: 'list beside logins'; target: string } & BesideLoginsOrder)
  | { do: 'close' };

/** Lists at a steady pace: so long alone, and so long beside logins, of which so many are under way at any time. */
export interface BesideLoginsOrder {
  seconds: number;
  listsPerSecond: number;
  parallelLogins: number;
}

/** What one stretch of load showed, in figures. */
export interface LoadFigures {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

/** What lists at a steady pace showed, and how many logins went on beside them. */
export interface BesideLoginsFigures {
  /** Lists of both kinds. */
  requests: number;
  alone: { p50Ms: number; p99Ms: number };
  beside: { p50Ms: number; p99Ms: number };
  loginsPerSecond: number;
}

/** What it answers to each order. */
export type Reply = { figures?: LoadFigures | BesideLoginsFigures } | { failure: string };
