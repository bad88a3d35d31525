import { runMigrations } from '@taskmesh/database';
import { createAuthDatabase } from '../src/database.ts';

await runMigrations('auth', createAuthDatabase, process.env);
