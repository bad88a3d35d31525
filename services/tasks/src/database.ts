import { createDatabase, type Database, type StoreOptions } from '@taskmesh/database';
import { migrations } from '../migrations/index.ts';
import { ChangeEntity, DeadLetterEntity, FeedEntity, FeedStateEntity } from './feed/feed.entities.ts';
import { AccountPositionEntity, ClosedOwnerEntity } from './owners/owners.entities.ts';
import { IdempotencyKeyEntity } from './tasks/idempotency-key.entity.ts';
import { TaskEntity } from './tasks/task.entity.ts';

const entities = [
  ...[TaskEntity, IdempotencyKeyEntity, FeedEntity, FeedStateEntity, ChangeEntity, DeadLetterEntity],
  ...[AccountPositionEntity, ClosedOwnerEntity],
];

export function createTasksDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'tasks', ...options, entities, migrations });
}
