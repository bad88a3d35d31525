import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ifThere, PlainError } from '../plain-error.ts';
import { runInDataDir } from '../processes/pid-lock.ts';
import { findFreePort } from '../processes/free-port.ts';
import { commandLine, endProcesses, isAlive, processesWorkingIn, type StopLadder } from '../processes/process-table.ts';
import type { Server, ServerOptions } from '../server.ts';
import { findPostgres, type PostgresBinaries } from './binaries.ts';
import { postgresVersion } from './databases.ts';
import { ensureCluster, SUPERUSER } from './create-cluster.ts';
import { reachableBy, serverUser } from './server-user.ts';

/** Fast shutdown: sessions are ended, data are flushed. Then immediate shutdown, after which the next start recovers. */
const LADDER: StopLadder = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
];
/** Of sessions that outlived their server. */
const REST_LADDER: StopLadder = [
  ['SIGQUIT', 2_000],
  ['SIGKILL', 5_000],
];
const PORT_TRIES = 3;

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '512MB',
  jit: 'off', // compiling costs more than any query of ours gains
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  cluster_name: 'taskmesh',
};

/** Each test file makes databases and drops them, and every drop is a checkpoint of the whole server. */
const THROWAWAY: Record<string, string> = { fsync: 'off', full_page_writes: 'off' };

export interface PostgresOptions extends ServerOptions {
  /** @default those that npm brought */
  binaries?: PostgresBinaries;
}

export interface PostgresServer extends Server {
  /** As PostgreSQL tells it, e.g. `18.4`. */
  version: string;
}

/**
 * Starts the PostgreSQL that npm brought on `dataDir`, which is set up when it is new. TCP on 127.0.0.1 only, password
 * needed (kept beside the data directory, for its owner's eyes). A server that a killed parent left there is ended first.
 * @throws PlainError
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  if (options.port) return startOnce(options.port, options);
  for (let tries = 1; ; tries++) {
    try {
      return await startOnce(await findFreePort(), options);
    } catch (error) {
      // A free port may be taken before PostgreSQL gets there: then another one is tried.
      const taken = error instanceof PlainError && /could not bind|Address already in use/.test(error.message);
      if (!taken || tries === PORT_TRIES) throw error;
    }
  }
}

async function startOnce(port: number, options: PostgresOptions): Promise<PostgresServer> {
  const { dataDir, log, isThrowaway } = options;
  const settings = { ...SETTINGS, ...(isThrowaway && THROWAWAY), port: String(port) };
  let url = '';
  let close = () => {};
  const prepare = async () => {
    await endServersIn(dataDir, log);
    const user = serverUser(dataDir);
    const binaries = options.binaries ?? findPostgres({ byOthers: user.ids !== undefined });
    const password = await ensureCluster({ dataDir, binaries, user });
    url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
    const reachable = reachableBy(user, [dataDir]);
    close = reachable.close;
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return {
      command: binaries.postgres,
      args: ['-D', ...reachable.paths, ...args],
      env: { TZ: 'UTC', LC_ALL: 'C' },
      cwd: '/',
      ...(user.ids ? { user: user.ids } : {}),
      descriptors: reachable.descriptors,
    };
  };
  const ready = () => postgresVersion(url);
  const run = { name: 'PostgreSQL', dataDir, ladder: LADDER, prepare, ready, intervalMs: 20 };
  const server = await runInDataDir(run, options).finally(() => close());
  return { ...server, url, port, version: server.told };
}

/**
 * Ends what an earlier server left running in a data directory that is ours now: the server itself, or sessions that
 * outlived it (they would keep its shared memory, and a new server refuses to start). Then removes its stale pid file,
 * whose id may belong to somebody else by now.
 */
async function endServersIn(dataDir: string, log: (line: string) => void): Promise<void> {
  const recorded = recordedServer(dataDir);
  if (recorded !== undefined) log(`Ending PostgreSQL (process ${recorded}), left over from an earlier run.`);
  const servers = recorded === undefined ? [] : [recorded];
  const isGone = await endProcesses(servers, [...LADDER, ['SIGKILL', 5_000]]);
  const rest = processesIn(dataDir).filter((pid) => pid !== recorded);
  if (!isGone || !(await endProcesses(rest, REST_LADDER)))
    throw new PlainError(
      `A PostgreSQL from an earlier run still uses ${dataDir} (processes ${[...servers, ...rest].join(', ')}). End it, then start again.`,
    );
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}

function processesIn(dataDir: string): number[] {
  const path = ifThere(() => realpathSync(dataDir));
  return path === undefined ? [] : processesWorkingIn(path, 'postgres');
}

/** The living server of this data directory, if its pid file tells of one. */
function recordedServer(dataDir: string): number | undefined {
  const pid = Number.parseInt(ifThere(() => readFileSync(join(dataDir, 'postmaster.pid'), 'utf8')) ?? '', 10);
  if (!(pid > 0) || !isAlive(pid)) return undefined;
  const isOurs =
    process.platform === 'linux' ? processesIn(dataDir).includes(pid) : commandLine(pid)?.includes(dataDir);
  return isOurs ? pid : undefined;
}
