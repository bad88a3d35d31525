import type { Database, Statement } from '@taskmesh/store';
import { BackupEntity, type Backup } from './archive.entity.ts';

export type BackupRepository = ReturnType<typeof createBackupRepository>;

export function createBackupRepository(database: Database) {
  return {
    find: (file: string): Promise<Backup | null> => database.retry((em) => em.findOne(BackupEntity, { file })),

    all: (): Promise<Backup[]> => database.retry((em) => em.findAll(BackupEntity)),

    async save(backup: Backup): Promise<void> {
      await database.retry((em) => em.upsert(BackupEntity, { ...backup }));
    },

    async takeIn(backup: Backup): Promise<void> {
      const { file, sizeBytes, sha256, createdAt, stores, origin, modifiedAt, unfitAt, unfitReason } = backup;
      const values = [file, sizeBytes, sha256, createdAt, stores, origin, modifiedAt, unfitAt, unfitReason];
      await database.run('read', TAKE_IN, values); // safe to repeat
    },

    async remove(file: string): Promise<void> {
      await database.retry((em) => em.nativeDelete(BackupEntity, { file }));
    },
  };
}

/**
 * Records what a look into an archive found, unless the catalogue has learned more meanwhile. $1: file, $2: size, $3:
 * checksum, $4: created, $5: stores, $6: origin, $7: modified, $8: unfit since, $9: reason
 */
const TAKE_IN: Statement = {
  name: 'backup-take-in',
  text: `
    insert into backups (file, size_bytes, sha256, created_at, stores, origin, modified_at, unfit_at, unfit_reason)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (file) do update set
      size_bytes = excluded.size_bytes, sha256 = excluded.sha256, created_at = excluded.created_at,
      stores = excluded.stores, origin = excluded.origin, modified_at = excluded.modified_at,
      unfit_at = excluded.unfit_at, unfit_reason = excluded.unfit_reason, verified_at = null, verified_version = null
    where backups.size_bytes <> excluded.size_bytes or backups.modified_at <> excluded.modified_at
      or (backups.stores = '{}' and backups.unfit_at is null)`,
};
