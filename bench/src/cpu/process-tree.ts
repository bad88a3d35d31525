import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { sumOf } from '../figures.ts';

export const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

interface Usage {
  pid: number;
  parent: number;
  /** User and system time, with that of children that ended and were waited for. */
  ticks: number;
}

/**
 * User and system time, in milliseconds, of each of these processes with all its descendants, since they began. Read it
 * twice and subtract: time of children that end in between moves to their parents and is not lost. Good to 10 ms.
 */
export function cpuMsOfTrees(pids: readonly number[]): number[] {
  const usages = new Map(readUsages().map((usage) => [usage.pid, usage]));
  const children = Map.groupBy(usages.values(), ({ parent }) => parent);
  const ticksOf = (pid: number): number => {
    const own = usages.get(pid)?.ticks ?? 0;
    return own + sumOf((children.get(pid) ?? []).map((child) => ticksOf(child.pid)));
  };
  return pids.map((pid) => (ticksOf(pid) * 1000) / TICKS_PER_SECOND);
}

function readUsages(): Usage[] {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.flatMap((pid) => {
    const stat = readIfThere(`/proc/${pid}/stat`);
    // The name of the command, in brackets, may hold blanks and brackets. Behind it: state, parent, …
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return stat ? [{ pid, parent: Number(fields[1]), ticks: sumOf(fields.slice(11, 15).map(Number)) }] : [];
  });
}

/** Nothing of a process that has ended meanwhile. */
export function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
