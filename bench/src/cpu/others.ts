import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { sumOf } from '../figures.ts';
import { cpuMsOfTrees, TICKS_PER_SECOND } from './process-tree.ts';

/** Begins to look at what the machine does; the returned function says which share of its cores went to anybody but these processes. */
export function othersSince(pids: readonly number[]): () => number {
  const before = look(pids);
  return () => {
    const now = look(pids);
    const ofOthers = now.busyMs - before.busyMs - (now.oursMs - before.oursMs);
    return Math.max(0, ofOthers / ((now.at - before.at) * cpus().length));
  };
}

function look(pids: readonly number[]) {
  const [, user = 0, nice = 0, system = 0] = (/^cpu .*/.exec(readFileSync('/proc/stat', 'utf8'))?.[0] ?? '')
    .split(/ +/)
    .map(Number);
  return {
    at: performance.now(),
    busyMs: ((user + nice + system) * 1000) / TICKS_PER_SECOND,
    oursMs: sumOf(cpuMsOfTrees(pids)),
  };
}
