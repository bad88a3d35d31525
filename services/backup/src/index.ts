export { createBackup, type Backup, type BackupDeps } from './create-backup.ts';
export { readBackupConfig, type BackupConfig } from './config.ts';
export type { StoreName, StoreOwner } from './stores/store.ts';
export type { Backup as BackupEntry } from './backups/backup.entity.ts';
export type { BackupProgress } from './backups/backup-progress.ts';
export type { BackupService, Download } from './backups/backup.service.ts';
