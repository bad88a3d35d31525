import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { othersSince } from '../feed/others.ts';
import { describeMachine } from '../report/machine.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import { startEngines } from './engines/start-engines.ts';
import { startGatewayLoad } from './load/start-gateway-load.ts';
import { measureGateways } from './measure-gateways.ts';
import type { GatewayOptions } from './options.ts';
import { profileGateways } from './profile-gateways.ts';
import type { GatewayReport } from './report.ts';
import { startShop } from './start-shop.ts';

export interface GatewayRunOptions extends GatewayOptions {
  dataDir: string;
  cacheDir: string;
  resultsDir: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Which part of the operations is recorded as traces. */
const TRACED = 0.01;

/** The whole comparison; undefined when it was a profile that was asked for. */
export async function runGatewayBench(options: GatewayRunOptions): Promise<GatewayReport | undefined> {
  const { dataDir, env, profile, connections, rounds, seconds, warmUpSeconds } = options;
  const startedAt = new Date().toISOString();
  const closers = new Closers();
  try {
    const collector = await startTraceCollector();
    closers.add(() => collector.stop());
    const shop = await startShop(dataDir);
    closers.add(() => shop.stop());
    const profileDir = join(dataDir, 'profiles');
    mkdirSync(profileDir, { recursive: true });
    const hook = `--import=${new URL('../profile/hook.ts', import.meta.url).href}`;
    const { engines, missing, stop } = await startEngines({
      ...options,
      names: options.engines,
      supergraphFile: shop.supergraphFile,
      env: {
        ...targetEnvironment({ ...env, ...(profile && { NODE_OPTIONS: hook, PROFILE_DIR: profileDir }) }),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: String(TRACED),
      },
    });
    closers.add(stop);
    const load = await startGatewayLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    const run = { ...options, engines, load, shop };
    if (profile) {
      await profileGateways({ ...run, profileDir });
      return undefined;
    }
    const others = othersSince([process.pid]);
    const measured = await measureGateways(run);
    return {
      startedAt,
      machine: describeMachine(),
      parameters: { connections, rounds, seconds, warmUpSeconds },
      othersShare: others(),
      missing,
      measured,
    };
  } finally {
    await closers.closeAll();
  }
}
