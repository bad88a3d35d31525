import { whileAway } from '@taskmesh/database';
import type { BackupStorage, StoredArchive } from '../storage/backup-storage.ts';
import type { Backup } from './backup.entity.ts';
import type { BackupRepository } from './backup.repository.ts';

export type BackupService = ReturnType<typeof createBackupService>;

export function createBackupService({ storage, repository }: { storage: BackupStorage; repository: BackupRepository }) {
  return {
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
