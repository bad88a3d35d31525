import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { PlainError } from '../errors.ts';
import { runInDataDir } from '../processes/data-dir.ts';
import { findFreePort } from '../ports.ts';
import { endProcesses, processesWorkingIn, type StopLadder } from '../processes/process-table.ts';
import type { ServerOptions } from '../server.ts';
import { findPostgres, type PostgresBinaries } from './binaries.ts';
import { ensureCluster, SUPERUSER } from './create-cluster.ts';
import { makeReachable, serverUser } from './server-user.ts';

/** Fast shutdown: ends sessions and flushes data. Then immediate shutdown, after which the next start runs recovery. */
const LADDER: StopLadder = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
];
const SESSION_LADDER: StopLadder = [
  ['SIGQUIT', 2_000],
  ['SIGKILL', 5_000],
];

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '512MB',
  jit: 'off', // compiling costs more than short queries gain
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

/** For tests: each test file creates and drops databases, and every drop causes a checkpoint of the whole server. */
const THROWAWAY_SETTINGS: Record<string, string> = { fsync: 'off', full_page_writes: 'off' };

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/**
 * Starts PostgreSQL on `dataDir`, which is initialised if it is new. Listens on 127.0.0.1 only and requires a password,
 * stored beside the data directory, readable by its owner only. First ends a server that a killed parent left there.
 * `binaries` defaults to those installed by npm; the backup benchmark runs an older server.
 * @throws PlainError
 */
export async function startPostgres(options: ServerOptions & { binaries?: PostgresBinaries }) {
  const { dataDir, isThrowaway } = options;
  let port = 0;
  let url = '';
  let close = () => {};
  const prepare = async () => {
    await endSessionsIn(dataDir);
    const user = serverUser(dataDir);
    const binaries = options.binaries ?? findPostgres({ byOthers: user.ids !== undefined });
    const password = await ensureCluster({ dataDir, binaries, user, isThrowaway });
    const reachable = makeReachable(user, [dataDir]);
    close = reachable.close;
    port = options.port ?? (await findFreePort()); // last, so that it is still free when PostgreSQL opens it
    url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
    const settings = { ...SETTINGS, ...(isThrowaway && THROWAWAY_SETTINGS), port };
    return {
      command: binaries.postgres,
      args: [
        '-D',
        ...reachable.paths,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      env: { TZ: 'UTC', LC_ALL: 'C' },
      cwd: '/',
      ...(user.ids ? { user: user.ids } : {}),
      descriptors: reachable.descriptors,
    };
  };
  const ready = () => postgresVersion(url);
  const run = { name: 'PostgreSQL', dataDir, ladder: LADDER, prepare, ready, intervalMs: 20 };
  const server = await runInDataDir(run, options).finally(() => close());
  /** `version` as PostgreSQL reports it, e.g. `18.4`. */
  return { ...server, url, port, version: server.readyResult };
}

/** The version as the server reports it, e.g. `18.4`. Rejects if connecting or the query takes longer than `timeoutMs`. */
export async function postgresVersion(url: string, timeoutMs = 5_000): Promise<string> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new Client({ connectionString: url, ...limits });
  client.on('error', () => undefined); // the query rejects with the same error
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version.split(' ')[0] ?? ''; // Debian appends more
  } finally {
    void client.end(); // not awaited: a silent server would never confirm it
  }
}

/**
 * Ends sessions that outlived an earlier server of this data directory, whose lock we hold: they keep its shared memory, so a
 * new server would refuse to start. Then removes the stale pid file, whose id may belong to another process by now. Where we
 * cannot look for processes, the file stays, and PostgreSQL itself decides whether it is stale.
 */
async function endSessionsIn(dataDir: string): Promise<void> {
  const sessions = processesWorkingIn(dataDir, 'postgres');
  if (!(await endProcesses(sessions, SESSION_LADDER)))
    throw new PlainError(
      `A PostgreSQL from an earlier run still uses ${dataDir} (processes ${sessions.join(', ')}). End it, then start again.`,
    );
  if (process.platform === 'linux') rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}
