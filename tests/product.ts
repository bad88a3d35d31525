import { findFreePorts } from '@taskmesh/local';
import { ownInstallation } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `start` is the platform in one process, `dev` the same for developers, `stack` each service as a process of its own. */
export type Command = 'start' | 'dev' | 'stack';

/** The product, started by one of its commands. */
export type Product = Awaited<ReturnType<typeof startProduct>>;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const START_MS = 90_000;
const STOP_MS = 20_000;
/** What the commands print once clients can connect. */
const RUNS = /^Taskmesh runs/m;

/**
 * Runs a command on free ports, with a data directory of its own and only `settings` in its environment.
 * @throws Error with its output if it ends before it is ready
 */
export async function startProduct(command: Command, settings: Record<string, string> = {}, root = ROOT) {
  const dataDir = mkdtempSync(join(tmpdir(), `taskmesh-${command}-`));
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const { PATH, HOME, JAVA_HOME } = process.env;
  const child = spawn(process.execPath, [join(root, 'scripts', `${command}.mjs`)], {
    env: {
      ...{ PATH, HOME, JAVA_HOME },
      // npm sets it, too; it makes the command end if this process is killed.
      npm_lifecycle_event: command,
      ...{ DATA_DIR: dataDir, PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: 'warn' },
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(String(code ?? signal)));
  });
  const running = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (RUNS.test(output)) resolve();
      });
  });

  const slow = setTimeout(() => child.kill('SIGTERM'), START_MS);
  const end = await Promise.race([running, ended]);
  clearTimeout(slow);
  if (end !== undefined) {
    rmSync(dataDir, { recursive: true, force: true });
    throw new Error(`The command "${command}" ended (${end}) before it ran:\n${output}`);
  }
  return {
    /** The public URL. */
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    dataDir,
    /** Everything that the command printed so far. */
    output: () => output,
    /** Resolves with the exit code or signal when the command ends, for any reason. */
    ended,
    /** Stops it with SIGTERM, as a supervisor does, and removes its data. @throws if it fails or does not end in time */
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      const code = await ended.finally(() => clearTimeout(late));
      if (code !== '0') throw new Error(`The command "${command}" ended with ${code}:\n${output}`);
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** Runs a command for the tests of a file, on the shared servers of the run, with tasks and accounts of its own. */
export function useProduct(command: Command, settings: () => Record<string, string> = () => ({})) {
  let product: Product;
  beforeAll(async () => {
    const { POSTGRES_URL, DATABASE_PREFIX, ...servers } = ownInstallation();
    // In one process, the product needs only PostgreSQL.
    const stores = { POSTGRES_URL, DATABASE_PREFIX, ...(command === 'stack' && servers) };
    product = await startProduct(command, { ...stores, ...settings() });
  });
  afterAll(() => product.stop());
  return () => product;
}
