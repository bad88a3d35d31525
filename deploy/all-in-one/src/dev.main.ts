import {
  DEMO_ACCOUNT,
  describeError,
  killRecordedProcesses,
  localUrl,
  PlainError,
  runCommand,
  printLine,
  seed,
  serviceReady,
} from '@taskmesh/local';
import { isLoopbackHost } from '@taskmesh/service';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readEmbeddedSettings, type PlatformConfig } from './config.ts';
import { keepPostgres } from './keep-postgres.ts';

const MAIN = fileURLToPath(new URL('watched.main.ts', import.meta.url));
const CONSOLE = fileURLToPath(new URL('../../../services/gateway/console/build/main.mjs', import.meta.url));
const CHECK_EVERY_MS = 200;

const dataDir = resolve(process.env.DATA_DIR || '.data/dev');

await runCommand({
  async start(signal) {
    const env = { ...process.env, DATA_DIR: dataDir };
    const settings = readEmbeddedSettings(env);
    const postgres = settings.postgresUrl ? undefined : await keepPostgres(dataDir, printLine, signal);
    const postgresUrl = settings.postgresUrl ?? postgres?.current.url ?? '';
    // Node restarts the platform after each change, even if it had failed.
    const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', MAIN], {
      env: { ...env, POSTGRES_URL: postgresUrl },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'], // the child notices by it that we have exited
    });
    const ended = once(child, 'exit');
    const console = spawn(process.execPath, [CONSOLE, '--watch'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    void printDemo(settings.platform.gateway, signal);
    return {
      failed: Promise.race([
        ended.then(() => new PlainError('Node has stopped watching.')),
        ...(postgres ? [postgres.givenUp] : []),
      ]),
      async stop() {
        console.kill('SIGTERM');
        child.kill('SIGTERM');
        await ended;
        await postgres?.stop();
      },
    };
  },
  killNow: () => killRecordedProcesses(dataDir),
});

type Addresses = Pick<PlatformConfig['gateway'], 'host' | 'port' | 'adminHost' | 'adminPort'>;

/** Waits until the platform runs, which may be only after the developer has fixed the first mistakes. */
async function printDemo({ host, port, adminHost, adminPort }: Addresses, signal: AbortSignal): Promise<void> {
  const isReady = () => serviceReady(localUrl(adminHost, adminPort)).catch(() => false);
  while (!signal.aborted && !(await isReady())) await sleep(CHECK_EVERY_MS);
  if (signal.aborted) return;
  try {
    if (!isLoopbackHost(host)) throw new PlainError('others can reach it, and the password is public.');
    await seed(localUrl(host, port));
    printLine(`\nDemo: log in as ${DEMO_ACCOUNT.email} with the password "${DEMO_ACCOUNT.password}".`);
  } catch (error) {
    printLine(`There are no demo data: ${describeError(error)}`);
  }
}
