import type { Database } from '@taskmesh/store';
import type { Log } from '@taskmesh/service';
import type { BackupConfig } from '../config.ts';
import type { LookAtDisk } from '../disk-space.ts';
import type { BackupStorage } from './backup-storage.ts';
import { createDirectoryStorage } from './directory-storage.ts';
import { createUploadJournal } from './upload-journal.repository.ts';

export interface StorageDeps {
  database: Database;
  look: LookAtDisk;
  now: () => number;
  log: Log;
}

/** The bucket, where there is one, or the directory. */
export async function createStorage(
  { backupsDir: dir, secrets }: BackupConfig,
  { database, look, now, log }: StorageDeps,
): Promise<BackupStorage> {
  if (!secrets.s3) return createDirectoryStorage({ dir, now, look });
  const { createS3Storage } = await import('./s3-storage.ts'); // a large library that few need
  return createS3Storage({ location: secrets.s3, now, journal: createUploadJournal(database, log) });
}
