import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isArchiveName } from './archive-name.ts';
import type { BackupStorage, Located, StoredArchive } from './backup-storage.ts';
import { openInside } from './open-inside.ts';

/** Archives as files of one directory, which is made when it is not there. */
export function createDirectoryStorage({ dir }: { dir: string }): BackupStorage {
  const ensureDir = () => mkdir(dir, { recursive: true, mode: 0o700 });

  return {
    async list() {
      await ensureDir();
      const names = (await readdir(dir)).filter(isArchiveName);
      const found = await Promise.all(names.map((name) => describe(dir, name)));
      return found.filter((archive) => archive !== undefined);
    },

    async open(name): Promise<Located> {
      await ensureDir();
      const opened = await openInside(dir, name);
      if (opened.kind !== 'found') return opened;
      const { handle, sizeBytes } = opened;
      return {
        kind: 'found',
        sizeBytes,
        read: () => handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 }),
        close: () => handle.close(),
      };
    },
  };
}

async function describe(dir: string, file: string): Promise<StoredArchive | undefined> {
  // It may be deleted between the two looks.
  const stats = await lstat(join(dir, file)).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  return { file, sizeBytes: stats.size, modifiedAt: stats.mtime };
}
