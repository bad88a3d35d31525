import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../is-alive.ts';

/** Private folders for what is extracted or written for a while; their names tell which process of which machine made them. */
export interface Scratch {
  /** Runs `work` with an empty folder that only we may enter, and removes it afterwards, whatever happened. */
  use<Result>(work: (dir: string) => Promise<Result>): Promise<Result>;
  /** Removes what processes that are gone left behind; says how many folders. To be called before the first `use`. */
  sweep(): Promise<number>;
}

const PREFIX = 'run-';
const NAME = /^run-(.+)-(\d+)-[^-]+$/;
/** No run takes that long: a living process of that id is another one by now. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;
/** Those of this process: several services in it may share a folder. */
const inUse = new Set<string>();

export interface ScratchOptions {
  dir: string;
  now: () => number;
  /** Process ids mean something there only; several machines may share the folder. @default this machine's name */
  host?: string;
}

export function createScratch({ dir, now, host = hostname() }: ScratchOptions): Scratch {
  const ensureDir = () => mkdir(dir, { recursive: true, mode: 0o700 });
  const isGone = (name: string): boolean => {
    const [, itsHost, itsPid] = NAME.exec(name) ?? [];
    const pid = Number(itsPid);
    if (itsHost !== host) return false;
    // A restarted container has the same ids again.
    return pid === process.pid ? !inUse.has(join(dir, name)) : !isAlive(pid);
  };

  return {
    async use(work) {
      await ensureDir();
      const own = await mkdtemp(join(dir, `${PREFIX}${host}-${process.pid}-`));
      inUse.add(own);
      try {
        return await work(own);
      } finally {
        await remove(own).finally(() => inUse.delete(own));
      }
    },

    async sweep() {
      await ensureDir();
      const names = (await readdir(dir)).filter((name) => name.startsWith(PREFIX));
      const abandoned = await Promise.all(names.map((name) => isGone(name) || isForgotten(join(dir, name), now())));
      const gone = names.filter((_name, index) => abandoned[index]);
      await Promise.all(gone.map((name) => remove(join(dir, name))));
      return gone.length;
    },
  };
}

/** Writes that were under way when a run failed may still add a file: then it is tried again. */
function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

async function isForgotten(path: string, now: number): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && now - stats.mtimeMs > FORGOTTEN_MS;
}
