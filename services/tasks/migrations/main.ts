import { runMigrations } from '@taskmesh/store';
import { createTasksDatabase } from '../src/database.ts';

await runMigrations('tasks', createTasksDatabase, process.env);
