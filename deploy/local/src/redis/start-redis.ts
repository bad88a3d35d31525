import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainError } from '../plain-error.ts';
import { untilReady } from '../processes/child-process.ts';
import { lockDataDir, filesBeside } from '../processes/pid-lock.ts';
import { findFreePort } from '../processes/free-port.ts';
import type { StopLadder } from '../processes/process-table.ts';
import { canInstallPackages, findDocker, findProgram, installPackages, runProgram } from '../programs.ts';
import type { Server, ServerOptions } from '../server.ts';
import { pingRedis } from './ping.ts';

const LADDER: StopLadder = [['SIGTERM', 10_000]];
const IMAGE = 'redis:7-alpine';

/**
 * Starts Redis (or Valkey) on 127.0.0.1 with a password of its own: the system's, else Debian's package (as root), else Docker's.
 * What it holds survives a restart on the same `dataDir`.
 * @throws PlainError naming the remedy when none of them is to be had
 */
export async function startRedis(options: ServerOptions): Promise<Server> {
  const { dataDir, log, signal } = options;
  const how = await findRedis(log);
  const port = options.port ?? (await findFreePort());
  const lock = await lockDataDir({ dataDir, ladder: LADDER, log });
  try {
    const password = writeConfiguration(dataDir, { port, bind: 'docker' in how ? '0.0.0.0' : '127.0.0.1' });
    if ('docker' in how) await runProgram(how.docker, ['rm', '-f', containerName(port)]);
    const child = await lock.start({
      ...('docker' in how ? inDocker(how.docker, dataDir, port) : { command: how.program, args: ['./redis.conf'] }),
      cwd: dataDir,
    });
    const url = `redis://:${password}@127.0.0.1:${port}`;
    await untilReady(child, { name: 'Redis', ready: () => pingRedis(url), timeoutMs: 60_000, intervalMs: 20, signal });
    return { ...child, url, port };
  } catch (error) {
    lock.release();
    throw error;
  }
}

type Redis = { program: string } | { docker: string };

async function findRedis(log: (line: string) => void): Promise<Redis> {
  const find = () => findProgram('redis-server', 'valkey-server');
  const program = find();
  if (program) return { program };
  if (canInstallPackages()) {
    await installPackages(['redis-server'], log);
    const installed = find();
    if (installed) return { program: installed };
  }
  const docker = await findDocker();
  if (docker) return { docker };
  throw new PlainError(
    'There is no Redis on this machine. Install it ("apt-get install redis-server", "brew install redis"), ' +
      'start Docker, or set REDIS_URL to a Redis of your own.',
  );
}

/** The password is in a file, not on the command line, which everybody on the machine can read. */
function writeConfiguration(dataDir: string, { port, bind }: { port: number; bind: string }): string {
  mkdirSync(dataDir, { recursive: true });
  const password = ensurePassword(filesBeside(dataDir).passwordFile);
  const file = join(dataDir, 'redis.conf');
  const lines = [
    `bind ${bind}`,
    `port ${port}`,
    `requirepass ${password}`,
    'dir ./',
    'appendonly yes',
    'save ""',
    'daemonize no',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return password;
}

/** The same one at every start, so that clients find their way back. */
function ensurePassword(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const password = randomBytes(24).toString('base64url');
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}

function inDocker(docker: string, dataDir: string, port: number): { command: string; args: string[] } {
  chmodSync(join(dataDir, 'redis.conf'), 0o644); // the image's own user reads it
  const args = [
    'run',
    '--rm',
    '--name',
    containerName(port),
    '-p',
    `127.0.0.1:${port}:${port}`,
    '-v',
    `${dataDir}:/data`,
  ];
  return { command: docker, args: [...args, IMAGE, 'redis-server', '/data/redis.conf'] };
}

function containerName(port: number): string {
  return `taskmesh-redis-${port}`;
}
