import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endNotedProcesses } from '../processes/pid-lock.ts';
import { isAlive } from '../processes/process-table.ts';
import { provideServers } from '../provide-servers.ts';

const PREFIX = 'test-servers-';

/** Fresh servers for one run of the tests, with their data in the cache; gone without a trace after `stop`. */
export async function startTestServers(options: {
  cacheDir: string;
  env: Readonly<Record<string, string | undefined>>;
  log: (line: string) => void;
}): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const { cacheDir, env, log } = options;
  await removeLeftovers(cacheDir);
  const dataDir = testServersDir(cacheDir);
  const clear = () => rmSync(dataDir, { recursive: true, force: true });
  try {
    const { urls, stop } = await provideServers({ env, dataDir, log, isThrowaway: true });
    return {
      env: { POSTGRES_URL: urls.postgres, REDIS_URL: urls.redis, KAFKA_BROKERS: urls.kafka },
      stop: () => stop().finally(clear),
    };
  } catch (error) {
    clear();
    throw error;
  }
}

export function testServersDir(cacheDir: string): string {
  return join(cacheDir, `${PREFIX}${process.pid}`);
}

/** Servers and data of runs that were killed. */
async function removeLeftovers(cacheDir: string): Promise<void> {
  mkdirSync(cacheDir, { recursive: true });
  for (const name of readdirSync(cacheDir)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : undefined;
    const dir = join(cacheDir, name);
    if (pid === undefined || isAlive(pid) || !existsSync(dir)) continue;
    await endNotedProcesses(dir);
    rmSync(dir, { recursive: true, force: true });
  }
}
