import { readIfThere } from './process-tree.ts';

const KIB = 1024;

/** What a process has in memory, in bytes, and what of that it shares with no other. */
export function residentOf(pid: number): { all: number; own: number } {
  const status = readIfThere(`/proc/${pid}/status`);
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * KIB;
  return { all: bytes('VmRSS'), own: bytes('RssAnon') };
}
