/** What the load process is told to do, one order after the other. */
export type Order =
  | { do: 'open'; url: string; query: string; /** JSON */ expected: string; connections: number }
  | { do: 'run'; seconds: number }
  | { do: 'close' };

/** What one stretch of load showed, in figures. */
export interface LoadFigures {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

export type Reply = { figures?: LoadFigures } | { failure: string };
