import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { join } from 'node:path';
import { CACHE, type Surroundings } from '../benchmark.ts';
import { othersSince } from '../cpu/others.ts';
import { hookSettings } from '../hooks/ask-hook.ts';
import { profile } from '../profile/profile.ts';
import { describeMachine } from '../report/machine.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import { startEngines } from './engines/start-engines.ts';
import { startGatewayLoad } from './load/start-gateway-load.ts';
import { measureGateways, withLoad, type MeasureGatewaysOptions } from './measure-gateways.ts';
import type { GatewayOptions } from './options.ts';
import type { GatewayReport } from './report.ts';
import { startShop } from './start-shop.ts';

/** Which part of the operations is recorded as traces. */
const TRACED = 0.01;

/** The whole comparison; undefined when it was a profile that was asked for. */
export async function runGatewayBench(options: GatewayOptions & Surroundings): Promise<GatewayReport | undefined> {
  const { dataDir, env, connections, rounds, seconds, warmUpSeconds } = options;
  const startedAt = new Date().toISOString();
  await using closers = new Closers();
  const collector = await startTraceCollector();
  closers.add(() => collector.stop());
  const shop = await startShop(dataDir);
  closers.add(() => shop.stop());
  const hookDir = join(dataDir, 'hooks');
  const { engines, missing, stop } = await startEngines({
    ...options,
    names: options.engines,
    cacheDir: CACHE,
    supergraphFile: shop.supergraphFile,
    env: {
      ...targetEnvironment(env),
      ...(options.profile && hookSettings('profile', hookDir)),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: String(TRACED),
    },
  });
  closers.add(stop);
  const load = await startGatewayLoad(join(dataDir, 'load.log'));
  closers.add(load.stop);
  const run = { ...options, engines, load, shop };
  if (options.profile) return void (await profileGateways({ ...run, hookDir }));
  const others = othersSince([process.pid]);
  const measured = await measureGateways(run);
  const parameters = { connections, rounds, seconds, warmUpSeconds };
  return { startedAt, machine: describeMachine(), parameters, othersShare: others(), missing, measured };
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
