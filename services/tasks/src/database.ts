import { createDatabase, type Database } from '@taskmesh/database';
import type { Log } from '@taskmesh/service';
import { TasksAndFeed } from '../migrations/0001-tasks-and-feed.ts';
import { DeadLetters } from '../migrations/0002-dead-letters.ts';
import { TimesEnd } from '../migrations/0003-times-end.ts';
import type { TasksConfig } from './config.ts';
import { DeadLetterSchema, FeedSchema, FeedStateSchema } from './feed/feed.entities.ts';
import { TaskSchema } from './tasks/task.entity.ts';

/** The service's own database; opens nothing yet. Two in one process need two names. */
export function createTasksDatabase(
  config: Pick<TasksConfig, 'postgresUrl' | 'poolSize'>,
  log: Log,
  name = 'tasks',
): Promise<Database> {
  return createDatabase({
    name,
    url: config.postgresUrl,
    poolSize: config.poolSize,
    entities: [TaskSchema, FeedSchema, FeedStateSchema, DeadLetterSchema],
    migrations: [
      { name: '0001-tasks-and-feed', class: TasksAndFeed },
      { name: '0002-dead-letters', class: DeadLetters },
      { name: '0003-times-end', class: TimesEnd },
    ],
    log,
  });
}
