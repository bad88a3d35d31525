import { runMigrations } from '@taskmesh/store';
import { createAuthDatabase } from '../src/database.ts';

await runMigrations('auth', createAuthDatabase, process.env);
