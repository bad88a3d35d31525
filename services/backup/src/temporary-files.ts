import { errorCode } from '@taskmesh/contracts/error-details';
import type { Log } from '@taskmesh/service';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Files that a process writes for a while and removes itself. If the process is killed, `sweep` removes them later. */
export type TemporaryFiles = ReturnType<typeof createTemporaryFiles>;

export interface TemporaryFilesOptions {
  dir: string;
  /** The beginning of their names. */
  prefix: string;
  /** No file is in use for this long: if its process id is in use, it belongs to another process by now. */
  maxAgeMs: number;
  now: () => number;
  /** Called when something could not be removed; `sweep` tries again. */
  onRemains: (error: unknown, path: string) => void;
  /** Creates each as a directory that only we may enter, and also `dir` if it is missing. */
  areDirs?: boolean;
  /** Removes a file, or a directory with its content. @default with retries */
  remove?: (path: string) => Promise<void>;
}

/** Part of the names, because several hosts, each with its own process ids, may share a directory. */
const HOST = hostname();
/** Shared by all services in this process, which may use the same directory. */
const inUse = new Set<string>();

export function createTemporaryFiles(options: TemporaryFilesOptions) {
  const { dir, prefix, maxAgeMs, now, onRemains, areDirs = false } = options;
  const { remove = removeWithRetries } = options;
  const makeDir = async (path: string) => areDirs && (await mkdir(path, { recursive: true, mode: 0o700 }));

  const isAbandoned = async (name: string): Promise<boolean> => {
    const [, pid, host] = /^(\d+)-[0-9a-f]+-(.*)$/s.exec(name.slice(prefix.length)) ?? [];
    const path = join(dir, name);
    // A restarted container may get the same process id.
    if (host === HOST && Number(pid) === process.pid) return !inUse.has(path);
    if (host === HOST && !isAlive(Number(pid))) return true;
    const stats = await stat(path).catch(() => undefined);
    return stats !== undefined && now() - stats.mtimeMs > maxAgeMs;
  };

  return {
    /** Runs `work` with a new, unique path, and removes the file or directory there afterwards. */
    async use<Result>(work: (path: string) => Promise<Result>) {
      const path = join(dir, `${prefix}${process.pid}-${randomBytes(6).toString('hex')}-${HOST}`);
      inUse.add(path);
      try {
        await makeDir(path);
        return await work(path);
      } finally {
        await remove(path).catch((error: unknown) => onRemains(error, path)); // the work's own outcome matters more
        inUse.delete(path);
      }
    },

    /** Removes what dead processes left behind; returns the number of files or directories. */
    async sweep() {
      await makeDir(dir);
      const names = (await readdir(dir)).filter((name) => name.startsWith(prefix));
      const abandoned = await Promise.all(names.map((name) => isAbandoned(name)));
      const abandonedNames = names.filter((_name, index) => abandoned[index]);
      await Promise.all(abandonedNames.map((name) => remove(join(dir, name))));
      return abandonedNames.length;
    },
  };
}

/** Retries, because pending writes of a failed run may still add a file. */
const removeWithRetries = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/** Directories for extracting and writing archives. */
export function createTemporaryDirs({
  log,
  ...options
}: Pick<TemporaryFilesOptions, 'dir' | 'now' | 'remove'> & { log: Log }) {
  const onRemains = (error: unknown, path: string) => log.error({ err: error, dir: path }, 'temporary files remain');
  return createTemporaryFiles({ ...options, prefix: 'run-', maxAgeMs: MAX_AGE_MS, onRemains, areDirs: true });
}
