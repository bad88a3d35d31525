import { createHash } from 'node:crypto';
import { link, lstat, mkdir, open, readdir, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode } from '../error-code.ts';
import { createRoomWatch, type LookAtDisk } from '../room.ts';
import { isListableName } from './archive-name.ts';
import {
  ArchiveExistsError,
  type BackupStorage,
  type Located,
  type StoredArchive,
  type WrittenArchive,
} from './backup-storage.ts';
import { openInside } from './open-inside.ts';
import { sweepUnfinished, unfinishedName } from './unfinished-files.ts';

export interface DirectoryStorageOptions {
  dir: string;
  now: () => number;
  look: LookAtDisk;
}

/** Archives as files of one directory, which is made when it is not there. */
export function createDirectoryStorage({ dir, now, look }: DirectoryStorageOptions): BackupStorage {
  const ensureDir = () => mkdir(dir, { recursive: true, mode: 0o700 });

  return {
    dir,

    async list() {
      await ensureDir();
      const names = (await readdir(dir)).filter(isListableName);
      const found = await Promise.all(names.map((name) => describe(dir, name)));
      return found.filter((archive) => archive !== undefined);
    },

    async find(file) {
      return isListableName(file) ? describe(dir, file) : undefined;
    },

    async open(name): Promise<Located> {
      await ensureDir();
      const opened = await openInside(dir, name);
      if (opened.kind !== 'found') return opened;
      const { handle, sizeBytes } = opened;
      return {
        kind: 'found',
        sizeBytes,
        read: () => Readable.from(bytesOf(handle), { objectMode: false }),
        close: () => handle.close(),
      };
    },

    async write(file, content) {
      const unfinished = join(dir, unfinishedName());
      try {
        await ensureDir();
        const written = await writeWhole(unfinished, content, createRoomWatch(dir, look));
        if (!(await publish(unfinished, join(dir, file)))) throw new ArchiveExistsError(written);
        await keepNames(dir);
        return written;
      } catch (error) {
        content.destroy();
        throw error;
      } finally {
        await rm(unfinished, { force: true });
      }
    },

    async remove(file) {
      if (!isListableName(file)) return false;
      try {
        await unlink(join(dir, file));
        await keepNames(dir);
        return true;
      } catch (error) {
        if (['ENOENT', 'ENAMETOOLONG', 'EISDIR'].includes(errorCode(error))) return false;
        throw error;
      }
    },

    async sweep() {
      await ensureDir();
      return sweepUnfinished(dir, now());
    },

    close: async () => undefined,
  };
}

const CHUNK_BYTES = 256 * 1024;

/** The handle's own streams close it when they are left in the middle. */
async function* bytesOf(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** On the disk, not only in the system's memory, when it returns. */
async function writeWhole(
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

/** What file systems without second names say. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives the file its name in one step. False when the name is taken: a rename would have replaced what is there. */
async function publish(unfinished: string, path: string): Promise<boolean> {
  try {
    await link(unfinished, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(errorCode(error))) throw error;
  }
  if (await lstat(path).catch(() => undefined)) return false;
  await rename(unfinished, path);
  return true;
}

/** A new name outlives a power failure only when its directory is written, too. */
async function keepNames(dir: string): Promise<void> {
  const handle = await open(dir);
  await handle.sync().finally(() => handle.close());
}

async function describe(dir: string, file: string): Promise<StoredArchive | undefined> {
  // It may be deleted between the two looks.
  const stats = await lstat(join(dir, file)).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  return { file, sizeBytes: stats.size, modifiedAt: new Date(stats.mtimeMs) };
}
