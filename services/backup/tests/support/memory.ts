import { readFileSync, readdirSync } from 'node:fs';

const MIB = 1024;

/** Memory that a process and its children have for themselves, in MiB. */
function privateMib(pid: number): number {
  try {
    return childrenOf(pid).reduce((sum, child) => sum + privateMib(child), anonymousMib(pid));
  } catch {
    return 0; // it has just ended
  }
}

/** Of a process, by id. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((text) => text !== '')
    .map(Number);
}

const LOOK_EVERY_MS = 10;

/** What the largest child of this process had for itself at the worst during `work`, and what that came to. */
export async function worstChildOf<Result>(work: () => Promise<Result>): Promise<{ result: Result; worstMib: number }> {
  let worstMib = 0;
  const look = () => (worstMib = Math.max(worstMib, ...childrenOf(process.pid).map(anonymousMib)));
  const timer = setInterval(look, LOOK_EVERY_MS);
  return { result: await work().finally(() => clearInterval(timer)), worstMib };
}

/** Nearly all that is private, and cheap to ask. */
function anonymousMib(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / MIB;
  } catch {
    return 0; // it has just ended
  }
}

/** How much more this process and its children have at the worst during `work` than before. */
export async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = privateMib(process.pid);
  let worst = before;
  const timer = setInterval(() => (worst = Math.max(worst, privateMib(process.pid))), LOOK_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return worst - before;
}
