import { AppError, unavailable } from '@taskmesh/contracts';
import { errorCode } from '@taskmesh/contracts/error-details';
import { createHash } from 'node:crypto';
import { link, mkdir, open, readdir, realpath, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createDiskSpaceWatch, type MeasureDisk } from '../disk-space.ts';
import { createTemporaryFiles } from '../temporary-files.ts';
import {
  ArchiveExistsError,
  isListableName,
  failureTranslator,
  type BackupStorage,
  type StoredArchive,
  type WrittenArchive,
} from './backup-storage.ts';
import { findInside, isMissing, openInside } from './open-inside.ts';

export interface DirectoryStorageOptions {
  dir: string;
  now: () => number;
  measureDisk: MeasureDisk;
  /** @default the system's */
  linkFile?: typeof link;
}

export function createDirectoryStorage({ dir, now, measureDisk, linkFile }: DirectoryStorageOptions): BackupStorage {
  const unfinishedFiles = createTemporaryFiles({
    dir,
    prefix: UNFINISHED,
    maxAgeMs: ABANDONED_MS,
    now,
    onRemains: () => undefined,
  });
  /** Fails if the path is missing or not a directory, so that it never looks empty. */
  const realDir = () => realpath(`${dir}/.`);
  const find = async (file: string) => (isListableName(file) ? describe(await realDir(), file) : undefined);

  return {
    dir,

    prepare: () => translated(async () => (await mkdir(dir, { recursive: true, mode: 0o700 })) !== undefined),

    list: () =>
      translated(async () => {
        const base = await realDir();
        const names = (await readdir(base)).filter(isListableName);
        const found = await Promise.all(names.map((name) => describe(base, name)));
        return found.filter((archive) => archive !== undefined);
      }),

    find: (file) => translated(() => find(file)),

    open: (name) => translated(async () => openInside(await realDir(), name)),

    async write(file, content) {
      try {
        await translated(realDir);
        return await unfinishedFiles.use(async (unfinished) => {
          const written = await writeSynced(unfinished, content, createDiskSpaceWatch(dir, measureDisk));
          if (!(await publish(unfinished, dir, file, linkFile))) throw new ArchiveExistsError(written);
          await syncNames(dir);
          return written;
        });
      } catch (error) {
        content.destroy();
        throw error;
      }
    },

    remove: (file) =>
      translated(async () => {
        if (!(await find(file))) return false;
        try {
          await unlink(join(dir, file));
        } catch (error) {
          if (isMissing(error)) return false; // deleted meanwhile
          throw error;
        }
        await syncNames(dir);
        return true;
      }),

    sweep: () => translated(() => unfinishedFiles.sweep()),

    close: async () => undefined,
  };
}

const translated = failureTranslator(asDirectoryFailure);

/** Any file that is still being written was modified more recently. */
const ABANDONED_MS = 60 * 60 * 1000;

const NO_PERMISSION = 'no permission';
const NO_DIRECTORY = 'it is not a directory';

const REASONS: Record<string, string> = {
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: 'it is read-only',
  ENOENT: 'it does not exist',
  ENOTDIR: NO_DIRECTORY,
  EEXIST: NO_DIRECTORY,
};
const SYSTEM_ERROR = /^E[A-Z0-9]+$/;

/** Returns the error for operators, without paths; `cause` has the details for the log. Returns a defect unchanged. */
function asDirectoryFailure(error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof AppError || !SYSTEM_ERROR.test(code)) return error;
  const reason = REASONS[code] ?? `the system cannot (${code})`;
  return unavailable(`The directory of the archives cannot be used: ${reason}.`, error);
}

/** Resolves when the content is on disk, not only in the operating system's cache. */
async function writeSynced(
  path: string,
  content: Readable,
  watch: (writtenBytes: number) => Promise<void>,
): Promise<WrittenArchive> {
  const handle = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const part of content) {
      hash.update(part);
      sizeBytes += part.length;
      await handle.writeFile(part);
      await watch(sizeBytes);
    }
    await handle.sync();
    return { sizeBytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

/** Begins names that are never listed. */
const UNFINISHED = '.unfinished-';

/** Errors of file systems without hard links. */
const NO_LINK_CODES = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Names the file atomically. Returns false if the name is taken; a plain rename would replace the existing file. */
async function publish(unfinished: string, dir: string, file: string, linkFile = link): Promise<boolean> {
  const path = join(dir, file);
  try {
    await linkFile(unfinished, path).catch(async (error: unknown) => {
      if (!NO_LINK_CODES.has(errorCode(error))) throw error;
      // Swept after a crash, unlike an empty file of the archive's own name, which may be as long as a name can be.
      const claim = join(dir, UNFINISHED + createHash('sha256').update(file).digest('hex'));
      await (await open(claim, 'wx')).close();
      const nameTaken = Object.assign(new Error('The name is taken.'), { code: 'EEXIST' });
      const renamed = (await describe(dir, file)) ? Promise.reject(nameTaken) : rename(unfinished, path);
      await renamed.finally(() => unlink(claim));
    });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Syncs the directory, because only then a new name survives a power failure. */
async function syncNames(dir: string): Promise<void> {
  const handle = await open(dir);
  await handle.sync().finally(() => handle.close());
}

/** Describes the file that a restore would open under this name: in the directory, possibly through a link. */
async function describe(base: string, file: string): Promise<StoredArchive | undefined> {
  try {
    const found = await findInside(base, file);
    const stats = found.kind === 'found' ? await stat(found.path) : undefined;
    return stats?.isFile() ? { file, sizeBytes: stats.size, modifiedAt: new Date(stats.mtimeMs) } : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined; // it may have been deleted between the two calls
    throw error;
  }
}
