import { globSync } from 'node:fs';
import { sumOf } from '../figures.ts';
import { readIfThere } from './process-tree.ts';

/** CPU time of a process' living threads, in milliseconds: to the nanosecond, where ticks are ten milliseconds. */
export function cpuMsOfThreads(pid: number): number {
  const files = globSync(`/proc/${pid}/task/*/schedstat`);
  return sumOf(files.map((file) => Number(readIfThere(file).split(' ', 1)[0]))) / 1e6;
}

/** The same for each second that some work takes. */
export async function cpuMsPerSecond(pid: number, work: () => Promise<unknown>): Promise<number> {
  const [cpuMs, at] = [cpuMsOfThreads(pid), performance.now()];
  await work();
  return ((cpuMsOfThreads(pid) - cpuMs) * 1_000) / (performance.now() - at);
}

/** What a process has in memory, in bytes: all of it, what it shares with no other, or the most that it ever had. */
export function bytesOf(pid: number, what: 'VmRSS' | 'RssAnon' | 'VmHWM'): number {
  const [, kib = 0] = new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readIfThere(`/proc/${pid}/status`)) ?? [];
  return Number(kib) * 1024;
}

export function childrenOf(pid: number): number[] {
  const files = globSync(`/proc/${pid}/task/*/children`);
  return files.flatMap((file) => readIfThere(file).split(' ').filter(Boolean).map(Number));
}
