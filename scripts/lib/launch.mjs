import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { CACHE, checkArguments, exitCodeOf, Failure, main, ROOT } from './command.mjs';
import { readEnvFile } from './env-file.mjs';
import { ensureConsole, ensureInstalled, npmInstall } from './install.mjs';

/** The first version that runs TypeScript without a warning, and refuses excess headers instead of dropping them. */
const MIN_VERSION = [24, 19];
const FETCHED_VERSION = '24.21.0';

/** As in the images: halves the memory for short-lived objects (docs/adr/0008-short-lived-garbage.md). */
const YOUNG_GENERATION = '--max-semi-space-size=32';
/** As in the images: threads leave less unused memory behind (same page). */
const MALLOC_ARENA_MAX = '1';
/** Enough threads that password hashing leaves some for files and DNS (docs/adr/0009-hashing-is-bounded.md). */
const UV_THREADPOOL_SIZE = String(Math.ceil(availableParallelism() * 1.25) + 4);

/** npm with bash as its shell repeats a signal that the terminal has sent to all processes: within this time, both count as one. */
const SAME_INTERRUPTION_MS = 1_000;

/** Runs the product: checks the arguments, installs missing dependencies, then starts `file`. */
export function runProduct({ help, options, need = 'production', file }) {
  return main(async () => {
    const args = checkArguments(process.argv.slice(2), { help, options });
    if (!args) return 0;
    for (const problem of readEnvFile()) console.warn(problem);
    await ensureInstalled(need);
    await ensureConsole();
    return launch(file, args);
  });
}

/**
 * Runs one of our commands (a TypeScript file) on Node 24 and returns its exit code. It runs detached from the terminal, so
 * that each signal reaches it once, through us; the channel to it closes when we exit.
 */
export async function launch(file, args) {
  const child = spawn(await provideNode24(), [join(ROOT, file), ...args], {
    cwd: ROOT,
    env: {
      MALLOC_ARENA_MAX,
      ...childEnvironment(),
      NODE_OPTIONS: `${YOUNG_GENERATION} ${process.env.NODE_OPTIONS ?? ''}`.trim(),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  });
  let interruptedAt;
  const interrupt = (signal) => {
    const now = performance.now();
    if (now - interruptedAt < SAME_INTERRUPTION_MS) return;
    interruptedAt ??= now;
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupt);
  // If npm is killed, it cannot notify us; if it ends because of a signal, we have received that, too.
  const npm = process.ppid;
  const watch = () => process.ppid !== npm && interruptedAt === undefined && interrupt('SIGTERM');
  if (process.env.npm_lifecycle_event) setInterval(watch, 500).unref();
  return exitCode(child);
}

/** Runs a development tool on Node 24, attached to the terminal like any other program. */
export async function runTool(file, args) {
  const options = { cwd: ROOT, env: childEnvironment(), stdio: 'inherit' };
  const child = spawn(await provideNode24(), [join(ROOT, file), ...args], options);
  process.on('SIGINT', () => undefined); // the terminal sends it to the tool as well
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return exitCode(child);
}

function childEnvironment() {
  return {
    NODE_COMPILE_CACHE: join(CACHE, 'compile'), // halves the time of the second start
    UV_THREADPOOL_SIZE,
    ...process.env,
    APOLLO_TELEMETRY_DISABLED: '1',
    NX_DAEMON: 'false',
  };
}

function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}

/** Returns the path of a Node that can run the sources: this one, or one that npm installs once. */
async function provideNode24() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return process.execPath;
  const home = join(CACHE, 'node');
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const binary = join(home, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  // npm writes its list last: if it was killed, the program may be incomplete.
  const list = join(home, 'node_modules', '.package-lock.json');
  if (existsSync(binary) && existsSync(list) && readFileSync(list, 'utf8').includes(`"version": "${FETCHED_VERSION}"`))
    return binary;
  console.log(`This is Node ${process.versions.node}. Fetching Node ${FETCHED_VERSION} (once) …`);
  try {
    const prepare = () => rmSync(home, { recursive: true, force: true });
    const args = ['--prefix', home, '--no-package-lock', `${name}@${FETCHED_VERSION}`];
    await npmInstall(args, `Fetching Node ${FETCHED_VERSION}`, prepare);
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== 1) throw error;
    throw new Failure(
      `${error.message}\nOr install Node ${MIN_VERSION.join('.')} or newer yourself (https://nodejs.org), then start again.`,
    );
  }
  return binary;
}
