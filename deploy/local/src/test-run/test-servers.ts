import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { endNotedProcesses } from '../processes/pid-lock.ts';
import { isAlive } from '../processes/process-table.ts';
import { provideServers } from '../provide-servers.ts';

const PREFIX = 'test-servers-';
/** A file system in memory, where Linux has one. */
const MEMORY = '/dev/shm';
/** Databases, logs and event logs of a run take less than half of it. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** Fresh servers for one run of the tests, gone without a trace after `stop`. */
export async function startTestServers(options: {
  cacheDir: string;
  env: Readonly<Record<string, string | undefined>>;
  log: (line: string) => void;
}): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const { cacheDir, env, log } = options;
  await removeLeftovers(parentDir(cacheDir));
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
  return join(parentDir(cacheDir), `${PREFIX}${process.pid}`);
}

let chosen: string | undefined;

/** In memory where there is room: on a disk, each of the many databases waits for ext4 to find inodes not deleted just now. */
function parentDir(cacheDir: string): string {
  return (chosen ??= hasRoom(MEMORY) ? join(MEMORY, `taskmesh-${process.getuid?.() ?? 0}`) : cacheDir);
}

function hasRoom(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Servers and data of runs that were killed. */
async function removeLeftovers(parent: string): Promise<void> {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : undefined;
    const dir = join(parent, name);
    if (pid === undefined || isAlive(pid) || !existsSync(dir)) continue;
    await endNotedProcesses(dir);
    rmSync(dir, { recursive: true, force: true });
  }
}
