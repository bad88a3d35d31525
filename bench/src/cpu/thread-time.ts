import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of a process' living threads, in milliseconds: to the nanosecond, where ticks are ten milliseconds. */
export function cpuMsOfThreads(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
    } catch {
      // it ended meanwhile
    }
  }
  return nanoseconds / 1e6;
}
