import { createServiceStatus, type Database } from '@taskmesh/store';
import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { STATUS_PART_MS, type StatusOf, type TasksStatus } from '@taskmesh/internal-api';
import type { EventLog } from '@taskmesh/event-log';
import { createTimedQuery, type Clock } from '@taskmesh/service';
import type { FeedRepository } from './feed/feed.repository.ts';
import type { DeadLetterRepository } from './relay/dead-letter.repository.ts';
import type { RelayRepository } from './relay/relay.repository.ts';

export interface TasksStatusDeps {
  database: Pick<Database, 'schemaState' | 'versions'>;
  feed: Pick<FeedRepository, 'state'>;
  relay: Pick<RelayRepository, 'backlog'>;
  deadLetters: Pick<DeadLetterRepository, 'count'>;
  eventLog: Pick<EventLog, 'isUp' | 'system'>;
  /** See `Relay.failingSeconds`. */
  relayFailingSeconds: () => number | undefined;
  clock: Clock;
}

export function createTasksStatus(deps: TasksStatusDeps): StatusOf<TasksStatus> {
  const { feed, relay, deadLetters, eventLog, relayFailingSeconds } = deps;
  const readService = createServiceStatus(deps, STATUS_PART_MS);
  const readEventLog = createTimedQuery(STATUS_PART_MS, () => eventLog.isUp(TASK_CHANGES_TOPIC));
  const readFeed = createTimedQuery(STATUS_PART_MS, async () => {
    const [{ epoch }, backlog, counts] = await Promise.all([feed.state(), relay.backlog(), deadLetters.count()]);
    return { epoch, ...backlog, deadLetters: counts };
  });

  return {
    async status() {
      const [service, known = null, isUp = false] = await Promise.all([readService(), readFeed(), readEventLog()]);
      const system = eventLog.system ?? 'memory';
      return { ...service, feed: known, eventLog: { system, isUp }, relayFailingSeconds: relayFailingSeconds() };
    },
  };
}
