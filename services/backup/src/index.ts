export { createBackup, type Backup, type BackupDeps } from './create-backup.ts';
export { readBackupConfig, type BackupConfig } from './config.ts';
