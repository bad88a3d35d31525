import { createDatabase, type Database, type StoreOptions } from '@taskmesh/database';
import { migrations } from '../migrations/index.ts';
import { DeadLetterEntity, FeedEntity, FeedStateEntity } from './feed/feed.entities.ts';
import { TaskEntity } from './tasks/task.entity.ts';

const entities = [TaskEntity, FeedEntity, FeedStateEntity, DeadLetterEntity];

/** Opens nothing yet. */
export function createTasksDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'tasks', ...options, entities, migrations });
}
