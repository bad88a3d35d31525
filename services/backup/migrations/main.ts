import { runMigrations } from '@taskmesh/store';
import { createBackupDatabase } from '../src/database.ts';

await runMigrations('backup', createBackupDatabase, process.env);
