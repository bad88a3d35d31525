import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { errorCode, PlainError } from '../plain-error.ts';
import { untilReady } from '../processes/child-process.ts';
import { lockDataDir, type DataDirLock } from '../processes/pid-lock.ts';
import { findFreePort } from '../processes/free-port.ts';
import { commandLine, endProcesses, isAlive, processesWorkingIn, type StopLadder } from '../processes/process-table.ts';
import type { Server, ServerOptions } from '../server.ts';
import { findPostgres } from './binaries.ts';
import { ensureCluster, SUPERUSER } from './create-cluster.ts';
import { reachableBy, serverUser } from './server-user.ts';

/** Fast shutdown: sessions are ended, data are flushed. Then immediate shutdown, after which the next start recovers. */
const LADDER: StopLadder = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
];
const START_TIMEOUT_MS = 60_000; // recovery after a crash may take a while
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

export interface PostgresServer extends Server {
  /** As PostgreSQL tells it, e.g. `18.4`. */
  version: string;
}

/**
 * Starts the PostgreSQL that npm brought on `dataDir`, which is set up when it is new. TCP on 127.0.0.1 only, password
 * needed (kept beside the data directory, for its owner's eyes). A server that a killed parent left there is ended first.
 * @throws PlainError
 */
export async function startPostgres(options: ServerOptions): Promise<PostgresServer> {
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

async function startOnce(port: number, { dataDir, log, signal, isThrowaway }: ServerOptions): Promise<PostgresServer> {
  const lock = await lockDataDir({ dataDir, ladder: LADDER, log });
  try {
    await endServersIn(dataDir, log);
    const user = serverUser(dataDir);
    const binaries = findPostgres({ byOthers: user.ids !== undefined });
    const password = await ensureCluster({ dataDir, binaries, user });
    const settings = { ...SETTINGS, ...(isThrowaway && THROWAWAY), port: String(port) };
    return await startOn(port, { lock, dataDir, program: binaries.postgres, password, settings, signal });
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startOn(
  port: number,
  options: {
    lock: DataDirLock;
    dataDir: string;
    program: string;
    password: string;
    settings: Readonly<Record<string, string>>;
    signal: AbortSignal | undefined;
  },
): Promise<PostgresServer> {
  const { lock, dataDir, program, password, settings, signal } = options;
  const user = serverUser(dataDir);
  const { paths, descriptors, close } = reachableBy(user, [dataDir]);
  const child = await lock
    .start({
      command: program,
      args: ['-D', ...paths, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      env: { TZ: 'UTC', LC_ALL: 'C' },
      cwd: '/',
      ...(user.ids ? { user: user.ids } : {}),
      descriptors,
    })
    .finally(close);
  const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
  let version = '';
  await untilReady(child, {
    name: 'PostgreSQL',
    ready: async () => (version = await askVersion(url)) !== '',
    timeoutMs: START_TIMEOUT_MS,
    intervalMs: 20,
    signal,
  });
  return { ...child, url, port, version };
}

async function askVersion(connectionString: string): Promise<string> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined); // told by the query as well
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? '';
  } finally {
    await client.end();
  }
}

/**
 * Ends what an earlier server left running in a data directory that is ours now: the server itself, or sessions that
 * outlived it (they would keep its shared memory, and a new server refuses to start). Then removes its stale pid file,
 * whose id may belong to somebody else by now.
 */
async function endServersIn(dataDir: string, log: (line: string) => void): Promise<void> {
  const recorded = recordedServer(dataDir);
  const found = recorded === undefined ? [] : [recorded];
  const others = () => processesIn(dataDir).filter((pid) => pid !== recorded);
  if (recorded !== undefined) log(`Ending PostgreSQL (process ${recorded}), left over from an earlier run.`);
  const gone = await endProcesses(found, [...LADDER, ['SIGKILL', 5_000]]);
  const rest = others();
  if (
    !gone ||
    !(await endProcesses(rest, [
      ['SIGQUIT', 2_000],
      ['SIGKILL', 5_000],
    ]))
  )
    throw new PlainError(
      `A PostgreSQL from an earlier run still uses ${dataDir} (processes ${[...found, ...rest].join(', ')}). End it, then start again.`,
    );
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}

function processesIn(dataDir: string): number[] {
  try {
    return processesWorkingIn(realpathSync(dataDir), 'postgres');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The living server of this data directory, if its pid file tells of one. */
function recordedServer(dataDir: string): number | undefined {
  let pid: number;
  try {
    pid = Number.parseInt(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8'), 10);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (!(pid > 0) || !isAlive(pid)) return undefined;
  const isOurs =
    process.platform === 'linux' ? processesIn(dataDir).includes(pid) : commandLine(pid)?.includes(dataDir);
  return isOurs ? pid : undefined;
}
