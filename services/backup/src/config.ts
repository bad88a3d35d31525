import { processSettings, readEnv, setting, type Env } from '@taskmesh/service';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { DEFAULT_MAX_ARCHIVE_MB, DEFAULT_MAX_EXPANDED_MB, MIB, type ArchiveSizes } from './archives/limits.ts';
import type { StoreName } from './stores/store.ts';

export interface BackupConfig extends ArchiveSizes {
  /** Our own database: the catalogue and the journal of restores. */
  postgresUrl: string;
  /** Where archives lie. */
  backupsDir: string;
  /** For what is extracted and written for the time of one run. */
  scratchDir: string;
  /** The store that `database.sql` is a dump of. */
  restoreStore: StoreName;
  /** With the right to create and rename databases and roles on each store's server; the path names the store's database. */
  secrets: { adminUrls: Record<StoreName, string> };
}

const postgresUrl = () => setting.url('postgres:', 'postgresql:');
const databaseUrl = () =>
  postgresUrl().refine((value) => URL.canParse(value) && new URL(value).pathname.length > 1, 'must name a database');

const MAX_MB = 1024 * 1024;
const megabytes = (usual: number) => setting.int(1, MAX_MB).default(usual);

const schema = z.object({
  ...processSettings,
  POSTGRES_URL: databaseUrl(),
  DATA_DIR: setting.text().default('.data'),
  BACKUPS_DIR: setting.text().optional(),
  BACKUP_MAX_ARCHIVE_MB: megabytes(DEFAULT_MAX_ARCHIVE_MB),
  BACKUP_MAX_EXPANDED_MB: megabytes(DEFAULT_MAX_EXPANDED_MB),
  RESTORE_DATABASE: setting.oneOf(['tasks', 'auth']).default('tasks'),
  TASKS_ADMIN_URL: databaseUrl(),
  AUTH_ADMIN_URL: databaseUrl(),
});

/** @throws ConfigError with every problem */
export function readBackupConfig(env: Env): BackupConfig {
  const values = readEnv(schema, env);
  return {
    postgresUrl: values.POSTGRES_URL,
    backupsDir: resolve(values.BACKUPS_DIR ?? join(values.DATA_DIR, 'backups')),
    scratchDir: resolve(values.DATA_DIR, 'backup-scratch'),
    maxArchiveBytes: values.BACKUP_MAX_ARCHIVE_MB * MIB,
    maxExpandedBytes: values.BACKUP_MAX_EXPANDED_MB * MIB,
    restoreStore: values.RESTORE_DATABASE,
    secrets: { adminUrls: { tasks: values.TASKS_ADMIN_URL, auth: values.AUTH_ADMIN_URL } },
  };
}
