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
import { reachableBy, serverUser } from './server-user.ts';

/** Fast shutdown: sessions are ended, data are flushed. Then immediate shutdown, after which the next start recovers. */
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

/** Each test file makes databases and drops them, and every drop is a checkpoint of the whole server. */
const THROWAWAY: Record<string, string> = { fsync: 'off', full_page_writes: 'off' };

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/**
 * Starts the PostgreSQL that npm brought on `dataDir`, which is set up when it is new. TCP on 127.0.0.1 only, password
 * needed (kept beside the data directory, for its owner's eyes). A server that a killed parent left there is ended first.
 * `binaries`: by default those that npm brought; the benchmark of backups runs an older server.
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
    const reachable = reachableBy(user, [dataDir]);
    close = reachable.close;
    port = options.port ?? (await findFreePort()); // last, so that it is still free when PostgreSQL gets there
    url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
    const settings = { ...SETTINGS, ...(isThrowaway && THROWAWAY), port };
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
  /** `version`, as PostgreSQL reports it: e.g. `18.4`. */
  return { ...server, url, port, version: server.answer };
}

/** As the server reports it, e.g. `18.4`; it gets some seconds for that. */
export async function postgresVersion(url: string, timeoutMs = 5_000): Promise<string> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new Client({ connectionString: url, ...limits });
  client.on('error', () => undefined); // the query rejects, too
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version.split(' ')[0] ?? ''; // Debian says more behind it
  } finally {
    void client.end(); // a silent server would not end it
  }
}

/**
 * Ends the sessions that outlived a server of this data directory, which is ours now: they would keep its shared memory, and
 * a new server refuses to start. Then removes its stale pid file, whose id may belong to somebody else by now. Where processes cannot
 * be looked for, it stays, and PostgreSQL itself judges whether it is stale.
 */
async function endSessionsIn(dataDir: string): Promise<void> {
  const sessions = processesWorkingIn(dataDir, 'postgres');
  if (!(await endProcesses(sessions, SESSION_LADDER)))
    throw new PlainError(
      `A PostgreSQL from an earlier run still uses ${dataDir} (processes ${sessions.join(', ')}). End it, then start again.`,
    );
  if (process.platform === 'linux') rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}
