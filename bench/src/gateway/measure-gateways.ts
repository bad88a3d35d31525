import { bytesOf, cpuMsOfThreads } from '../cpu/one-process.ts';
import { summarise } from '../figures.ts';
import type { LoadFigures } from '../load/connections.ts';
import type { EngineName, RunningEngine } from './engines/engine.ts';
import type { GatewayLoad } from './load/start-gateway-load.ts';
import type { GatewayOptions } from './options.ts';
import { DOCUMENTS, type QueryName } from './queries.ts';
import { expectedAnswer } from './shop/expected.ts';
import { measureByTurns, type Turns } from '../turns.ts';
import type { RunningShop } from './start-shop.ts';

interface GatewayRound extends LoadFigures {
  perSecond: number;
  /** Of the gateway's process, in milliseconds per request. */
  cpuMs: number;
  /** Requests to services per request. */
  calls: number;
}

/** The medians of a query's rounds at one gateway. */
export interface GatewayMeasured extends GatewayRound {
  query: QueryName;
  engine: EngineName;
  /** The most that the process had resident since it was started, behind these rounds. */
  peakMiB: number;
  rounds: GatewayRound[];
}

export interface MeasureGatewaysOptions extends Turns, Pick<GatewayOptions, 'queries' | 'connections'> {
  engines: readonly RunningEngine[];
  load: GatewayLoad;
  shop: RunningShop;
  log: (line: string) => void;
}

/** All gateways take turns, query by query, another one first in each round. @throws when one of them answers wrong */
export async function measureGateways(options: MeasureGatewaysOptions): Promise<GatewayMeasured[]> {
  const { queries, engines, log } = options;
  const measured: GatewayMeasured[] = [];
  for (const query of queries) {
    log(`${query} …`);
    const taken = await measureByTurns(engines, options, (engine, seconds) =>
      withLoad({ ...options, query, engine }, (run) => run(seconds)),
    );
    for (const [{ name, pid }, all] of taken)
      measured.push({ query, engine: name, peakMiB: bytesOf(pid, 'VmHWM') / 2 ** 20, ...summarise(all) });
  }
  return measured;
}

/** Opens connections to a gateway for as long as `use` takes. */
export async function withLoad<Result>(
  options: Pick<MeasureGatewaysOptions, 'load' | 'shop' | 'connections'> & { query: QueryName; engine: RunningEngine },
  use: (run: (seconds: number) => Promise<GatewayRound>) => Promise<Result>,
): Promise<Result> {
  const { query, engine, load, shop, connections } = options;
  const { url, pid } = engine;
  await load.open({ url, query: DOCUMENTS[query], expected: await expectedAnswer(DOCUMENTS[query]), connections });
  const run = async (seconds: number) => {
    const calls = await shop.requests();
    const cpuMs = cpuMsOfThreads(pid);
    const figures = await load.run(seconds);
    const { requests } = figures;
    return {
      ...figures,
      perSecond: requests / figures.seconds,
      cpuMs: (cpuMsOfThreads(pid) - cpuMs) / requests,
      calls: ((await shop.requests()) - calls) / requests,
    };
  };
  const result = await use(run);
  await load.close();
  return result;
}
