import { Closers } from '@taskmesh/service';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import type { TargetName } from '../operations.ts';
import { startBare } from './bare.ts';
import { startEmbeddedTarget } from './embedded.ts';
import { startSeparate } from './separate.ts';
import type { Target, TargetOptions } from './target.ts';

/** Starts a target, when `others` run already. */
type Start = (options: TargetOptions, others: readonly Target[]) => Promise<Target>;

export const START: Record<TargetName, Start> = {
  bare: startBare,
  embedded: startEmbeddedTarget,
  separate: startSeparate,
};

/** Starts targets one after the other; all run until `stop`. */
export async function startTargets(
  names: readonly TargetName[],
  { dataDir, env, log, signal }: Surroundings,
  { start = START, settings = {} }: { start?: Record<TargetName, Start>; settings?: Record<string, string> } = {},
): Promise<{ targets: Target[]; stop(): Promise<void> }> {
  const options = { env: { ...targetEnvironment(env), ...settings }, log: () => undefined };
  await using closers = new Closers();
  const targets: Target[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    log(`Starting ${name} …`);
    const target = closers.use(await start[name]({ ...options, dataDir: join(dataDir, name) }, targets));
    targets.push(target);
  }
  return { targets, stop: closers.handOver() };
}

/** Has a program send this share of its traces to a collector. */
export function tracesSettings(collector: { url: string }, ratio: number): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(ratio),
  };
}

/** As in production, and nothing of the user's own settings but what programs need to be found. */
export function targetEnvironment(env: TargetOptions['env']): TargetOptions['env'] {
  const { PATH, HOME, JAVA_HOME, NODE_COMPILE_CACHE } = env;
  return {
    ...{ PATH, HOME, JAVA_HOME, NODE_COMPILE_CACHE },
    NODE_ENV: 'production',
    BACKUP_TOKEN: randomBytes(32).toString('hex'),
    // Everybody here comes from one address.
    RATE_LIMIT_FACTOR: '0',
    APOLLO_TELEMETRY_DISABLED: '1',
    LOG_LEVEL: 'warn',
  };
}
