import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { findFreePort } from './ports.ts';
import { filesFor, runInDataDir } from './processes/data-dir.ts';
import { provideProgram } from './programs.ts';
import { ensurePassword, type Server, type ServerOptions } from './server.ts';

const REMEDY =
  'There is no Redis on this machine. Install it ("apt-get install redis-server", "brew install redis"), ' +
  'or use a Redis of your own.';

/**
 * Starts Redis (or Valkey) on 127.0.0.1 with a password of its own. Installs Debian's package (as root) if there is none.
 * Data survives a restart on the same `dataDir`.
 * @throws PlainError naming the remedy when neither is possible
 */
export async function startRedis(options: ServerOptions): Promise<Server> {
  const { dataDir, log } = options;
  const program = await provideProgram(['redis-server', 'valkey-server'], {
    package: 'redis-server',
    log,
    remedy: REMEDY,
  });
  const port = options.port ?? (await findFreePort());
  let [url, password] = ['', ''];
  const prepare = async () => {
    password = ensurePassword(filesFor(dataDir).passwordFile);
    url = `redis://:${password}@127.0.0.1:${port}`;
    writeConfiguration(dataDir, ['bind 127.0.0.1', `port ${port}`, `requirepass ${password}`]);
    return { command: program, args: ['./redis.conf'], cwd: dataDir };
  };
  const ready = () => respondsToPing(port, password);
  const run = { name: 'Redis', dataDir, prepare, ready, intervalMs: 20 };
  return { ...(await runInDataDir(run, options)), url, port };
}

/** Undefined while Redis loads its data. */
async function respondsToPing(port: number, password: string): Promise<true | undefined> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    socket.write(`AUTH ${password}\r\nPING\r\n`);
    let response = '';
    const signal = AbortSignal.timeout(2_000);
    while (response.split('\r\n').length < 3) response += String(await once(socket, 'data', { signal }));
    return response.includes('+PONG') || undefined;
  } finally {
    socket.destroy();
  }
}

/** The password goes into a file, because everybody on the machine can read a command line. */
function writeConfiguration(dataDir: string, own: string[]): void {
  mkdirSync(dataDir, { recursive: true });
  const lines = [...own, 'dir ./', 'appendonly yes', 'save ""', 'daemonize no'];
  writeFileSync(join(dataDir, 'redis.conf'), `${lines.join('\n')}\n`, { mode: 0o600 });
}
