import { globSync } from 'node:fs';
import { sumOf } from '../figures.ts';
import { readIfThere } from './process-tree.ts';

/** CPU time of a process' living threads, in milliseconds: to the nanosecond, where ticks are ten milliseconds. */
export function cpuMsOfThreads(pid: number): number {
  const files = globSync(`/proc/${pid}/task/*/schedstat`);
  return sumOf(files.map((file) => Number(readIfThere(file).split(' ', 1)[0]))) / 1e6;
}
