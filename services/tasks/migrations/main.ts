import { runMigrations } from '@taskmesh/database';
import type { Log } from '@taskmesh/service';
import { createTasksDatabase } from '../src/database.ts';

const open = (postgresUrl: string, log: Log) => createTasksDatabase({ postgresUrl, poolSize: 1 }, log);
await runMigrations('tasks', open, process.env);
