import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/service/trace-collector';
import { join } from 'node:path';
import { CACHE, type Surroundings } from '../benchmark.ts';
import { hookSettings } from '../hooks/ask-hook.ts';
import { profile } from '../profile/profile.ts';
import { describeMachine } from '../report/machine.ts';
import { targetEnvironment, tracesSettings } from '../targets/start-targets.ts';
import { startEngines } from './engines/start-engines.ts';
import { startGatewayLoad } from './load/start-gateway-load.ts';
import { measureGateways, withLoad, type MeasureGatewaysOptions } from './measure-gateways.ts';
import type { GatewayOptions } from './options.ts';
import { startShop } from './start-shop.ts';

/** Which part of the operations is recorded as traces. */
const TRACED = 0.01;

/** The whole comparison; undefined when it was a profile that was asked for. */
export async function runGatewayBench(options: GatewayOptions & Surroundings) {
  const { dataDir } = options;
  await using closers = new Closers();
  const collector = closers.use(await startTraceCollector());
  const shop = closers.use(await startShop(dataDir));
  const hookDir = join(dataDir, 'hooks');
  const env = {
    ...targetEnvironment(options.env),
    ...(options.profile && hookSettings('profile', hookDir)),
    ...tracesSettings(collector, TRACED),
  };
  const { supergraphFile } = shop;
  const chosen = { ...options, names: options.engines, cacheDir: CACHE, supergraphFile, env };
  const { engines, missing } = closers.use(await startEngines(chosen));
  const load = closers.use(await startGatewayLoad(join(dataDir, 'load.log')));
  const run = { ...options, engines, load, shop };
  if (options.profile) return void (await profileGateways({ ...run, hookDir }));
  return { machine: describeMachine(), missing, measured: await measureGateways(run) };
}

/** Where each gateway's time goes under each query. */
async function profileGateways(options: MeasureGatewaysOptions & { hookDir: string }): Promise<void> {
  const { queries, engines, seconds, warmUpSeconds, hookDir, log } = options;
  for (const query of queries)
    for (const engine of engines)
      await withLoad({ ...options, query, engine }, async (run) => {
        await run(warmUpSeconds);
        const servers = [{ title: `gateway-${query}-${engine.name}`, pid: engine.pid }];
        await profile({ servers, hookDir, work: async () => (await run(seconds)).requests, unit: 'request', log });
      });
}
