import { runMigrations } from '@taskmesh/database';
import { createBackupDatabase } from '../src/database.ts';

await runMigrations('backup', createBackupDatabase, process.env);
