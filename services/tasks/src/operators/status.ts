import { createStoreStatus, type Database } from '@taskmesh/database';
import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import { STATUS_PART_MS, type StatusOf, type TasksStatus } from '@taskmesh/internal-api';
import type { EventLog } from '@taskmesh/messaging';
import { askInTime, readVersion, type Clock } from '@taskmesh/service';
import { countDeadLetters, readRelayBacklog } from '../relay/backlog.ts';
import { EPOCH } from '../relay/relay.statements.ts';

export interface TasksStatusDeps {
  database: Pick<Database, 'run' | 'schemaState' | 'versions'>;
  eventLog: Pick<EventLog, 'isUp' | 'system'>;
  clock: Clock;
}

export function createTasksStatus({ database, eventLog, clock }: TasksStatusDeps): StatusOf<TasksStatus> {
  const startedAt = new Date(clock.now()).toISOString();
  const askStore = createStoreStatus(database, STATUS_PART_MS);
  const askEventLog = askInTime(STATUS_PART_MS, () => eventLog.isUp(TASK_CHANGES_TOPIC));
  const askFeed = askInTime(STATUS_PART_MS, async () => {
    const [epoch, backlog, deadLetters] = await Promise.all([
      database.run<{ epoch: number }>('read', EPOCH, []),
      readRelayBacklog(database),
      countDeadLetters(database),
    ]);
    return { epoch: epoch[0]?.epoch ?? 0, ...backlog, deadLetters };
  });

  return {
    async status() {
      const [store, feed = null, isUp = false] = await Promise.all([askStore(), askFeed(), askEventLog()]);
      const system = eventLog.system ?? 'memory';
      return { version: readVersion(), startedAt, store, feed, eventLog: { system, isUp } };
    },
  };
}
