import { findFreePort, provideProgram, startChild, untilReady } from '@taskmesh/local';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

const REMEDY =
  'There is no PgBouncer on this machine, which this test needs. Install it ("apt-get install pgbouncer", "brew install pgbouncer").';

export interface PgBouncer {
  /** The server's URL, by way of PgBouncer. */
  url: string;
  stop(): Promise<unknown>;
}

/** Starts PgBouncer before the server, configured as CloudNativePG does it. */
export async function startPgBouncer(serverUrl: string, poolMode: 'session' | 'transaction'): Promise<PgBouncer> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const command = await provideProgram(['pgbouncer'], { package: 'pgbouncer', log, remedy: REMEDY });
  const [server, url] = [new URL(serverUrl), new URL(serverUrl)];
  const port = await findFreePort();
  url.port = String(port);
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-pgbouncer-'));
  chmodSync(dir, 0o755); // as root, PgBouncer runs as another user
  const password = decodeURIComponent(server.password);
  writeFileSync(join(dir, 'users.txt'), `"${server.username}" "${password}"\n`, { mode: 0o644 });
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = ${poolMode}
ignore_startup_parameters = extra_float_digits,options
server_reset_query = DISCARD ALL
max_client_conn = 1000
default_pool_size = 50
auth_type = scram-sha-256
auth_file = ${join(dir, 'users.txt')}
auth_user = ${server.username}
auth_query = select usename, passwd from pg_catalog.pg_shadow where usename = $1
`,
  );
  const args = [...(process.getuid?.() === 0 ? ['-u', 'postgres'] : []), join(dir, 'pgbouncer.ini')];
  const child = await startChild({ command, args, logFile: join(dir, 'log'), ladder: [['SIGINT', 5_000]] });
  const ready = async () => {
    const client = new Client({ connectionString: url.href });
    client.on('error', () => undefined);
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  };
  await untilReady(child, { name: 'PgBouncer', ready, intervalMs: 50 });
  return {
    url: url.href,
    async stop() {
      await child.stop();
      rmSync(dir, { recursive: true });
    },
  };
}
