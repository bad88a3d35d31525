import { readFileSync, readdirSync } from 'node:fs';

const MIB = 1024;

/** Returns the private memory of a process and its children, in MiB. */
export function privateMib(pid: number): number {
  try {
    const own = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return childrenOf(pid).reduce((sum, child) => sum + privateMib(child), Number(own ?? 0) / MIB);
  } catch {
    return 0; // the process has just ended
  }
}

/** Returns the ids of a process's children. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((text) => text !== '')
    .map(Number);
}
