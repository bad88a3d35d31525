import { createDatabase, type Database } from '@taskmesh/database';
import type { Log } from '@taskmesh/service';
import { Migration0001Catalogue } from '../migrations/migration-0001-catalogue.ts';
import { BackupEntity } from './backups/backup.entity.ts';

export function createBackupDatabase({ url, log }: { url: string; log: Log }): Promise<Database> {
  return createDatabase({
    name: 'backup',
    url,
    entities: [BackupEntity],
    migrations: [{ name: '0001-catalogue', class: Migration0001Catalogue }],
    poolSize: 4, // few callers, and one instance works at a time
    log,
  });
}
