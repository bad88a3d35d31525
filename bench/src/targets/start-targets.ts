import { Closers } from '@taskmesh/service';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { TargetName } from '../operations.ts';
import { startBare } from './bare.ts';
import { startEmbeddedTarget } from './embedded.ts';
import { startSeparate } from './separate.ts';
import type { Target, TargetOptions } from './target.ts';

const START: Record<TargetName, (options: TargetOptions) => Promise<Target>> = {
  bare: startBare,
  embedded: startEmbeddedTarget,
  separate: startSeparate,
};

/** Starts targets one after the other; all run until `stop`. */
export async function startTargets(
  names: readonly TargetName[],
  options: TargetOptions & { signal: AbortSignal },
): Promise<{ targets: Target[]; stop(): Promise<void> }> {
  const { dataDir, log, signal } = options;
  const env = targetEnvironment(options.env);
  const closers = new Closers();
  const targets: Target[] = [];
  try {
    for (const name of names) {
      signal.throwIfAborted();
      log(`Starting ${name} …`);
      const target = await START[name]({ dataDir: join(dataDir, name), env, log: () => undefined });
      closers.add(() => target.stop());
      targets.push(target);
    }
    return { targets, stop: () => closers.closeAll() };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** As in production, and nothing of the user's own settings but what programs need to be found. */
export function targetEnvironment(env: TargetOptions['env']): TargetOptions['env'] {
  const { PATH, HOME, JAVA_HOME, NODE_COMPILE_CACHE, NODE_OPTIONS, PROFILE_DIR } = env;
  return {
    PATH,
    HOME,
    JAVA_HOME,
    NODE_COMPILE_CACHE,
    NODE_OPTIONS,
    PROFILE_DIR,
    NODE_ENV: 'production',
    BACKUP_TOKEN: randomBytes(32).toString('hex'),
    // Everybody here comes from one address.
    RATE_LIMIT_FACTOR: '0',
    APOLLO_TELEMETRY_DISABLED: '1',
    LOG_LEVEL: 'warn',
  };
}
