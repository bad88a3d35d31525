import type { Database } from '@taskmesh/database';
import { BackupEntity, type Backup } from './backup.entity.ts';

export type BackupRepository = ReturnType<typeof createBackupRepository>;

export function createBackupRepository(database: Database) {
  return {
    find: (file: string): Promise<Backup | null> => database.em().findOne(BackupEntity, { file }),

    all: (): Promise<Backup[]> => database.em().findAll(BackupEntity),

    /** Replaces what was known about this file. */
    async save(backup: Backup): Promise<void> {
      await database.em().upsert(BackupEntity, { ...backup });
    },

    async remove(file: string): Promise<void> {
      await database.em().nativeDelete(BackupEntity, { file });
    },
  };
}
