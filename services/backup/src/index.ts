export { createBackup, type Backup, type BackupDeps } from './create-backup.ts';
export { readBackupConfig, type BackupConfig } from './config.ts';
export type { StoreName, StoreOwner } from './databases/store.ts';
export type { BackupService, Download } from './archives/archive.service.ts';
