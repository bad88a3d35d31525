import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A group of processes with a limit on their memory, as a container is one. */
export interface MemoryCgroup {
  /** Where the id of a process is written to, to put it and its children into the group. */
  procsFile: string;
  /** What its processes have for themselves: what can be written back or read again is not in it. */
  ownBytes(): number;
  limit(bytes: number): void;
  /** How many processes the kernel has ended for lack of memory. */
  kills(): number;
  remove(): void;
}

const ROOT = '/sys/fs/cgroup';

interface Kind {
  parent: string;
  limitFile: string;
  own: [file: string, name: string];
  kills: [file: string, name: string];
}

/** Version 1 where the memory controller is mounted for itself, else version 2. */
const KINDS: Kind[] = [
  {
    parent: join(ROOT, 'memory'),
    limitFile: 'memory.limit_in_bytes',
    own: ['memory.stat', 'rss'],
    kills: ['memory.oom_control', 'oom_kill'],
  },
  { parent: ROOT, limitFile: 'memory.max', own: ['memory.stat', 'anon'], kills: ['memory.events', 'oom_kill'] },
];

/** Undefined where groups cannot be made: without rights, or on another system. */
export function createMemoryCgroup(name: string): MemoryCgroup | undefined {
  for (const { parent, limitFile, own, kills } of KINDS) {
    const dir = join(parent, `taskmesh-${name}-${process.pid}`);
    try {
      if (parent === ROOT) appendFileSync(join(parent, 'cgroup.subtree_control'), '+memory');
      mkdirSync(dir);
      if (!existsSync(join(dir, limitFile))) throw new Error('There is no memory controller.');
      const numberIn = ([file, field]: [string, string]) =>
        Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(readFileSync(join(dir, file), 'utf8'))?.[1]);
      return {
        procsFile: join(dir, 'cgroup.procs'),
        ownBytes: () => numberIn(own),
        limit: (bytes) => writeFileSync(join(dir, limitFile), String(bytes)),
        kills: () => numberIn(kills),
        remove: () => rmdirSync(dir),
      };
    } catch {
      if (existsSync(dir)) rmdirSync(dir);
    }
  }
  return undefined;
}
