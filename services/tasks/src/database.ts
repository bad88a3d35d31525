import { createDatabase, type Database, type StoreOptions } from '@taskmesh/store';
import { migrations } from '../migrations/index.ts';
import { ChangeEntity, FeedEntity, FeedStateEntity } from './feed/feed.entities.ts';
import { AccountPositionEntity, ClosedOwnerEntity } from './owners/owner.entities.ts';
import { DeadLetterEntity } from './relay/dead-letter.entity.ts';
import { IdempotencyKeyEntity, TaskEntity, TaskKeyEntity } from './tasks/task.entities.ts';

const entities = [
  TaskEntity,
  TaskKeyEntity,
  IdempotencyKeyEntity,
  FeedEntity,
  FeedStateEntity,
  ChangeEntity,
  DeadLetterEntity,
  AccountPositionEntity,
  ClosedOwnerEntity,
];

/** A generic plan suits all owners and is made only once; custom plans would suit only most owners. */
const SETTINGS = { plan_cache_mode: 'force_generic_plan' };

export function createTasksDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'tasks', ...options, entities, migrations, settings: SETTINGS });
}
