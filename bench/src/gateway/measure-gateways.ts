import { readFileSync } from 'node:fs';
import { cpuMsOfThreads } from '../cpu/thread-time.ts';
import { summarise } from '../figures.ts';
import type { LoadFigures } from '../load/connections.ts';
import type { EngineName, RunningEngine } from './engines/engine.ts';
import type { GatewayLoad } from './load/start-gateway-load.ts';
import type { GatewayOptions } from './options.ts';
import { DOCUMENTS, type QueryName } from './queries.ts';
import { expectedAnswer } from './shop/expected.ts';
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

export interface MeasureGatewaysOptions extends Pick<
  GatewayOptions,
  'queries' | 'seconds' | 'warmUpSeconds' | 'rounds' | 'connections'
> {
  engines: readonly RunningEngine[];
  load: GatewayLoad;
  shop: RunningShop;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** All gateways take turns, query by query, another one first in each round. @throws when one of them answers wrong */
export async function measureGateways(options: MeasureGatewaysOptions): Promise<GatewayMeasured[]> {
  const { queries, engines, rounds, seconds, warmUpSeconds, signal, log } = options;
  const measured: GatewayMeasured[] = [];
  for (const query of queries) {
    log(`${query} …`);
    const taken = new Map(engines.map((engine): [RunningEngine, GatewayRound[]] => [engine, []]));
    for (const engine of engines) await withLoad({ ...options, query, engine }, (run) => run(warmUpSeconds));
    for (let round = 0; round < rounds; round++) {
      const first = round % engines.length;
      for (const engine of [...engines.slice(first), ...engines.slice(0, first)]) {
        signal.throwIfAborted();
        taken.get(engine)?.push(await withLoad({ ...options, query, engine }, (run) => run(seconds)));
      }
    }
    for (const [{ name, pid }, all] of taken)
      measured.push({ query, engine: name, peakMiB: peakMiB(pid), ...summarise(all) });
  }
  return measured;
}

type Run = (seconds: number) => Promise<GatewayRound>;

/** Opens connections to a gateway for as long as `use` takes. */
export async function withLoad<Result>(
  {
    query,
    engine: { url, pid },
    load,
    shop,
    connections,
  }: Pick<MeasureGatewaysOptions, 'load' | 'shop' | 'connections'> & { query: QueryName; engine: RunningEngine },
  use: (run: Run) => Promise<Result>,
): Promise<Result> {
  await load.open({ url, query: DOCUMENTS[query], expected: await expectedAnswer(DOCUMENTS[query]), connections });
  const run: Run = async (seconds) => {
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

function peakMiB(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
