import type { Log } from '@taskmesh/service';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../is-alive.ts';

export interface TemporaryDirs {
  /** Runs `work` with an empty directory that only we may enter, and removes it afterwards. What cannot be removed waits for `sweep`. */
  use<Result>(work: (dir: string) => Promise<Result>): Promise<Result>;
  /** Removes the directories of dead processes; returns their number. Call it before the first `use`. */
  sweep(): Promise<number>;
}

const PREFIX = 'run-';
const NAME = /^run-(.+)-(\d+)-[^-]+$/;
/** No run takes this long: a process with that id must be a new one. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** For all services in this process, which may share a directory. */
const inUse = new Set<string>();

export interface TemporaryDirsOptions {
  dir: string;
  now: () => number;
  log: Log;
  /** Several hosts may share the directory, each with its own process ids. @default this machine's name */
  host?: string;
  /** Removes a directory with its content. @default with retries */
  remove?: (path: string) => Promise<void>;
}

export function createTemporaryDirs(options: TemporaryDirsOptions): TemporaryDirs {
  const { dir, now, log, host = hostname(), remove = removeWithRetries } = options;
  const ensureDir = () => mkdir(dir, { recursive: true, mode: 0o700 });
  const hasEnded = (name: string): boolean => {
    const [, itsHost, itsPid] = NAME.exec(name) ?? [];
    const pid = Number(itsPid);
    if (itsHost !== host) return false;
    // A restarted container may get the same process id.
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
        // Not thrown: what was done, or why it failed, matters more.
        await remove(own).catch((error: unknown) => log.error({ err: error, dir: own }, 'temporary files remain'));
        inUse.delete(own);
      }
    },

    async sweep() {
      await ensureDir();
      const names = (await readdir(dir)).filter((name) => name.startsWith(PREFIX));
      const abandoned = await Promise.all(names.map((name) => hasEnded(name) || isTooOld(join(dir, name), now())));
      const gone = names.filter((_name, index) => abandoned[index]);
      await Promise.all(gone.map((name) => remove(join(dir, name))));
      return gone.length;
    },
  };
}

/** Retries, because pending writes of a failed run may still add a file. */
function removeWithRetries(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

async function isTooOld(path: string, now: number): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && now - stats.mtimeMs > MAX_AGE_MS;
}
