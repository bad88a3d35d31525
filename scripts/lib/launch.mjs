import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { exitCodeOf } from './failure.mjs';
import { ensureNode24 } from './node24.mjs';
import { CACHE, ROOT } from './paths.mjs';
import { passSignalsTo } from './signals.mjs';

/** As the images have it: halves what short-lived objects may take (docs/adr/0008-short-lived-garbage.md). */
const YOUNG_GENERATION = '--max-semi-space-size=32';
/** As the images have it: threads leave less unused memory behind (the same page). */
const MALLOC_ARENA_MAX = '1';
/** Passwords occupy all threads but these, which files and DNS need (docs/adr/0009-hashing-is-bounded.md). */
const UV_THREADPOOL_SIZE = String(Math.ceil(availableParallelism() * 1.25) + 4);

function childEnvironment() {
  return {
    NODE_COMPILE_CACHE: join(CACHE, 'compile'), // halves the time of the second start
    ...process.env,
    APOLLO_TELEMETRY_DISABLED: '1',
    NX_DAEMON: 'false',
  };
}

/**
 * Runs one of our commands (a TypeScript file) on Node 24 and returns its exit code. It stands apart from the terminal:
 * each signal reaches it once, through us, and it learns by the broken channel when we are gone.
 */
export async function launch(file, args) {
  const node = await ensureNode24();
  const child = spawn(node, [join(ROOT, file), ...args], {
    cwd: ROOT,
    env: {
      MALLOC_ARENA_MAX,
      UV_THREADPOOL_SIZE,
      ...childEnvironment(),
      NODE_OPTIONS: `${YOUNG_GENERATION} ${process.env.NODE_OPTIONS ?? ''}`.trim(),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  });
  passSignalsTo(child);
  return exitCode(child);
}

/** Runs a developers' tool on Node 24, in the terminal like any other program. */
export async function runTool(file, args) {
  const node = await ensureNode24();
  const child = spawn(node, [join(ROOT, file), ...args], { cwd: ROOT, env: childEnvironment(), stdio: 'inherit' });
  process.on('SIGINT', () => undefined); // the terminal sends it to the tool as well
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return exitCode(child);
}

function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}
