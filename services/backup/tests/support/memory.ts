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

const MEASURE_EVERY_MS = 10;

/** Returns the result of `work`, and the most private memory that a child of this process had meanwhile. */
export async function worstChildOf<Result>(work: () => Promise<Result>): Promise<{ result: Result; worstMib: number }> {
  let worstMib = 0;
  const measure = () => (worstMib = Math.max(worstMib, ...childrenOf(process.pid).map(privateMib)));
  const timer = setInterval(measure, MEASURE_EVERY_MS);
  return { result: await work().finally(() => clearInterval(timer)), worstMib };
}
