import { runMigrations } from '@taskmesh/database';
import { createBackupDatabase } from '../src/database.ts';

await runMigrations('backup', (url, log) => createBackupDatabase({ url, log }), process.env);
