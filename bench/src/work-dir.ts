import { endNotedProcesses } from '@taskmesh/local';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** That a stack can have. */
export const MOST_GATEWAYS = 16;
const PREFIX = 'bench-';

/** A fresh directory for this run; what runs that were killed left behind, processes and files, is removed. */
export async function makeWorkDir(cacheDir: string): Promise<{ path: string; remove(): void }> {
  mkdirSync(cacheDir, { recursive: true });
  for (const name of readdirSync(cacheDir).filter((entry) => entry.startsWith(PREFIX))) {
    if (isRunning(Number(name.slice(PREFIX.length)))) continue;
    for (const dir of dataDirsIn(join(cacheDir, name))) await endNotedProcesses(dir);
    rmSync(join(cacheDir, name), { recursive: true, force: true });
  }
  const path = join(cacheDir, `${PREFIX}${process.pid}`);
  mkdirSync(path);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Of a stack with so many gateways. */
export function stackDir(workDir: string, gateways: number): string {
  return join(workDir, `stack-${gateways}`);
}

/** Where targets note the processes that they started. */
export function dataDirsIn(workDir: string): string[] {
  const stacks = Array.from({ length: MOST_GATEWAYS }, (_, index) => stackDir(workDir, index + 1));
  return ['.', 'beside-logins']
    .flatMap((run) => ['bare', 'embedded', 'separate', 'separate/stack'].map((name) => join(workDir, run, name)))
    .concat(stacks)
    .filter((dir) => existsSync(dir));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
