import { whileAway } from '@taskmesh/database';
import type { Log } from '@taskmesh/service';
import type { BackupStorage, StoredArchive } from '../storage/backup-storage.ts';
import type { Backup } from './backup.entity.ts';
import { asBackupFailure } from './backup.errors.ts';
import type { BackupRepository } from './backup.repository.ts';
import { makeArchive, type ArchiveMaking } from './make-archive.ts';

export type BackupService = ReturnType<typeof createBackupService>;

export interface BackupServiceDeps extends ArchiveMaking {
  storage: BackupStorage;
  repository: BackupRepository;
  log: Log;
}

export function createBackupService(deps: BackupServiceDeps) {
  const { storage, repository, log } = deps;

  /** The archive is whole without it: then the list shows what the storage knows. */
  const catalogue = async (backup: Backup) => {
    try {
      await whileAway({ kind: 'read' }, () => repository.save(backup)); // repeating it changes nothing more
    } catch (error) {
      log.error({ err: error, file: backup.file }, 'backup not catalogued');
    }
  };

  return {
    /** Makes an archive of all stores. @throws AppError with the reason when there is none in the end */
    async create(): Promise<Backup> {
      try {
        const backup = await makeArchive(deps);
        await catalogue(backup);
        return backup;
      } catch (error) {
        log.error({ err: error }, 'backup not made');
        throw asBackupFailure(error);
      }
    },

    /** Says whether there was such an archive. */
    async remove(file: string): Promise<boolean> {
      const removed = await storage.remove(file);
      if (removed) {
        await whileAway({ kind: 'read' }, () => repository.remove(file));
        log.info({ file }, 'backup deleted');
      }
      return removed;
    },

    async sweep(): Promise<void> {
      const pieces = await storage.sweep();
      if (pieces > 0) log.warn({ pieces }, 'unfinished archives removed');
    },

    /** What the storage holds, newest first, with what the catalogue knows about it. */
    async list(): Promise<Backup[]> {
      const [archives, known] = await Promise.all([
        storage.list(),
        whileAway({ kind: 'read' }, () => repository.all()),
      ]);
      const byFile = new Map(known.map((backup) => [backup.file, backup]));
      return archives.map((archive) => described(archive, byFile.get(archive.file))).sort(newestFirst);
    },
  };
}

/** An archive of another size than the catalogue's is not the one that was catalogued: somebody put it there. */
function described({ file, sizeBytes, modifiedAt }: StoredArchive, known: Backup | undefined): Backup {
  if (known?.sizeBytes === sizeBytes) return known;
  return { file, sizeBytes, sha256: null, createdAt: modifiedAt, stores: [], verifiedAt: null };
}

function newestFirst(one: Backup, other: Backup): number {
  return other.createdAt.getTime() - one.createdAt.getTime() || (one.file < other.file ? 1 : -1);
}
