import { globSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endNotedProcesses, killNotedProcesses } from './data-dir.ts';
import { isAlive } from './process-table.ts';

/** A directory of this process, with those of the servers and services that it starts below. */
export type RunDir = Awaited<ReturnType<typeof makeRunDir>>;

/** Makes one in `parent`. What runs that were killed have left there, processes and files, is removed. */
export async function makeRunDir(parent: string, prefix: string) {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const left = join(parent, name);
    if (isAlive(Number(name.slice(prefix.length)))) continue;
    for (const dir of dataDirsIn(left)) await endNotedProcesses(dir);
    rmSync(left, { recursive: true, force: true });
  }
  const path = join(parent, `${prefix}${process.pid}`);
  mkdirSync(path);
  return {
    path,
    /** Kills what was started there, and waits for nothing. */
    killNow: () => dataDirsIn(path).forEach(killNotedProcesses),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Where processes are noted: of one server or stack, of several beside each other, or of stacks in these. */
function dataDirsIn(path: string): string[] {
  return globSync(['run', '*/run', '*/*/run', '*/*/*/run'], { cwd: path }).map((run) => join(path, dirname(run)));
}
