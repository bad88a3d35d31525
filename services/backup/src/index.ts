export { createBackup, type Backup, type BackupDeps } from './create-backup.ts';
export { readBackupConfig, type BackupConfig } from './config.ts';
export type { StoreName, StoreOwner } from './stores/store.ts';
