import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say } from '../command/run-command.ts';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');

/** One part of the whole check: its name, whether it held, how long it took. */
export type StepResult = Awaited<ReturnType<typeof runStep>>;

/** Does a step and tells how it went. A step that throws is an error of the run, not a finding. */
export async function runStep(name: string, action: () => Promise<boolean>) {
  const begin = performance.now();
  say(`— ${name} …`);
  const passed = await action();
  const seconds = (performance.now() - begin) / 1000;
  say(`— ${name}: ${passed ? 'passed' : 'FAILED'} (${seconds.toFixed(1)} s)`);
  return { name, passed, seconds };
}

/** Runs a file of the repository on this Node, its output in ours. Says whether it ended well. */
export function runNode(
  args: string[],
  { env, signal }: { env?: Record<string, string | undefined>; signal: AbortSignal },
): Promise<boolean> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = () => child.kill('SIGTERM');
  signal.addEventListener('abort', end);
  return new Promise<boolean>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  }).finally(() => signal.removeEventListener('abort', end));
}
