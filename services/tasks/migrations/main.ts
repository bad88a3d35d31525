import { runMigrations } from '@taskmesh/database';
import { createTasksDatabase } from '../src/database.ts';

await runMigrations('tasks', createTasksDatabase, process.env);
