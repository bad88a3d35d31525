import { median } from '../figures.ts';
import type { EngineName } from './engines/engine.ts';
import type { LoadFigures } from './load/messages.ts';
import type { QueryName } from './queries.ts';

export interface GatewayRound extends LoadFigures {
  /** Of the gateway's process, in milliseconds per request. */
  cpuMs: number;
  /** Requests to services per request. */
  calls: number;
}

/** The medians of a query's rounds at one gateway. */
export interface GatewayMeasured {
  query: QueryName;
  engine: EngineName;
  cpuMs: number;
  calls: number;
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
  /** The most that the process had resident since it was started, behind these rounds. */
  peakMiB: number;
  rounds: GatewayRound[];
}

export function summariseGateway(
  of: Pick<GatewayMeasured, 'query' | 'engine' | 'peakMiB'>,
  rounds: GatewayRound[],
): GatewayMeasured {
  const middle = (read: (round: GatewayRound) => number) => median(rounds.map(read));
  return {
    ...of,
    cpuMs: middle(({ cpuMs }) => cpuMs),
    calls: middle(({ calls }) => calls),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    perSecond: middle(({ requests, seconds }) => requests / seconds),
    rounds,
  };
}
