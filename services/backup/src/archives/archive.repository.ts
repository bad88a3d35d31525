import type { Database } from '@taskmesh/store';
import { BackupEntity, type Backup } from './archive.entity.ts';
import { RECORD_EXAMINED } from './archive.statements.ts';

export type BackupRepository = ReturnType<typeof createBackupRepository>;

export function createBackupRepository(database: Database) {
  return {
    find: (file: string): Promise<Backup | null> => database.retry((em) => em.findOne(BackupEntity, { file })),

    all: (): Promise<Backup[]> => database.retry((em) => em.findAll(BackupEntity)),

    async save(backup: Backup): Promise<void> {
      await database.retry((em) => em.upsert(BackupEntity, { ...backup }));
    },

    async recordExamined(backup: Backup): Promise<void> {
      const { file, sizeBytes, sha256, createdAt, stores, origin, modifiedAt, unfitAt, unfitReason } = backup;
      const values = [file, sizeBytes, sha256, createdAt, stores, origin, modifiedAt, unfitAt, unfitReason];
      await database.run('read', RECORD_EXAMINED, values); // safe to repeat
    },

    async remove(file: string): Promise<void> {
      await database.retry((em) => em.nativeDelete(BackupEntity, { file }));
    },
  };
}
