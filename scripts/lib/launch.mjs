import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ensureNode24 } from './node24.mjs';
import { CACHE, ROOT } from './paths.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** As the images have it: halves what short-lived objects may take (docs/adr/0008-short-lived-garbage.md). */
const YOUNG_GENERATION = '--max-semi-space-size=32';

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
    env: { ...childEnvironment(), NODE_OPTIONS: `${YOUNG_GENERATION} ${process.env.NODE_OPTIONS ?? ''}`.trim() },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  watchNpm(() => child.kill('SIGTERM'));
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
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  }).finally(() => SIGNALS.forEach((signal) => process.removeAllListeners(signal)));
}

/** npm that was killed cannot tell us. So, started by npm, we look whether it is still there. */
function watchNpm(onGone) {
  if (!process.env.npm_lifecycle_event) return;
  const atStart = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === atStart) return;
    clearInterval(timer);
    onGone();
  }, 500);
  timer.unref();
}

/** Our parent and, where npm put a shell between, its parent. Ids change when one of them ends. */
function ancestors() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const [, grandparent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isShell = /\((sh|dash|bash)\)/.test(stat);
    return isShell ? `${process.ppid} ${grandparent}` : String(process.ppid);
  } catch {
    return String(process.ppid); // no /proc on this system
  }
}
