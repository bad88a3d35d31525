import { readdirSync, readFileSync } from 'node:fs';

const MIB = 1024;
const LOOK_EVERY_MS = 100;

/**
 * Looks what a process and each of its descendants have for themselves, in MiB, until it is stopped: how much the process grew,
 * and the most that all its descendants had at once.
 */
export function watchTreeMemory(pid: number): () => { own: number; children: number } {
  const idle = anonymousMib(pid);
  const worst = { own: 0, children: 0 };
  const look = () => {
    worst.own = Math.max(worst.own, anonymousMib(pid) - idle);
    worst.children = Math.max(
      worst.children,
      descendantsOf(pid).reduce((sum, child) => sum + anonymousMib(child), 0),
    );
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    return worst;
  };
}

function descendantsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
      .filter((text) => text !== '')
      .flatMap((child) => [Number(child), ...descendantsOf(Number(child))]);
  } catch {
    return []; // it has just ended
  }
}

/** Nearly all that is private to a process, and cheap to ask. */
function anonymousMib(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / MIB;
  } catch {
    return 0;
  }
}
