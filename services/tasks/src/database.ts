import { createDatabase, type Database, type StoreOptions } from '@taskmesh/store';
import { migrations } from '../migrations/index.ts';
import { TaskEntity } from './tasks/task.entities.ts';

/** A generic plan suits all owners and is made only once; custom plans would suit only most owners. */
const SETTINGS = { plan_cache_mode: 'force_generic_plan' };

export function createTasksDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'tasks', ...options, entities: [TaskEntity], migrations, settings: SETTINGS });
}
