import { sumOf } from '../figures.ts';
import { bytesOf, childrenOf } from './one-process.ts';

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
    worst.children = Math.max(worst.children, sumOf(descendantsOf(pid).map(anonymousMib)));
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    return worst;
  };
}

const descendantsOf = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

/** Nearly all that is private to a process, and cheap to ask. */
const anonymousMib = (pid: number) => bytesOf(pid, 'RssAnon') / 2 ** 20;
