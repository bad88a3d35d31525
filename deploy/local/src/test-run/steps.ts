import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printLine } from '../command.ts';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');

/** One step of a test run: its name, whether it passed, and how long it took. */
export type StepResult = Awaited<ReturnType<typeof runStep>>;

/** Runs a step and reports its result. A step that throws is an error of the run, not a failed check. */
export async function runStep(name: string, action: () => Promise<boolean>) {
  const begin = performance.now();
  printLine(`— ${name} …`);
  const passed = await action();
  const seconds = (performance.now() - begin) / 1000;
  printLine(`— ${name}: ${passed ? 'passed' : 'FAILED'} (${seconds.toFixed(1)} s)`);
  return { name, passed, seconds };
}

/** Whether the system has process groups, which a signal can reach as a whole. */
const HAS_GROUPS = process.platform !== 'win32';

/**
 * Runs a file of the repository on this Node, with our output. Returns whether it succeeded. Aborting it also stops all its child
 * processes: Jest's workers and their servers would outlive Jest.
 */
export function runNode(
  args: string[],
  { env, signal }: { env?: Record<string, string | undefined>; signal: AbortSignal },
): Promise<boolean> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: HAS_GROUPS,
  });
  const end = () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (HAS_GROUPS && child.pid) process.kill(-child.pid, 'SIGTERM');
    else child.kill('SIGTERM');
  };
  signal.addEventListener('abort', end);
  return new Promise<boolean>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  }).finally(() => signal.removeEventListener('abort', end));
}
