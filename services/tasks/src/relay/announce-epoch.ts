import { EPOCH_KEY, TASK_CHANGES_TOPIC, type EpochBegan } from '@taskmesh/contracts';
import { PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { backoffMs, type Log } from '@taskmesh/service';
import { PARTITIONS } from '../feed/change.ts';

const BACKOFF = { firstMs: 500, longestMs: 15_000 };
/** Nothing depends on the announcement, as gateways also compare epochs themselves. */
const TRIES = 10;

export interface AnnouncementDeps {
  eventLog: Pick<EventLog, 'publish'>;
  log: Log;
  pause: (ms: number) => Promise<unknown>;
  /** Whether the announcement is still about our store. */
  isCurrent: () => boolean;
}

/**
 * Announces the store's epoch on every partition, so that gateways learn of a restore at once. Gateways that already
 * have this epoch or a higher one ignore it.
 */
export async function announceEpoch(
  epoch: number,
  { eventLog, log, pause, isCurrent }: AnnouncementDeps,
): Promise<void> {
  const value = JSON.stringify({ epoch } satisfies EpochBegan);
  let records: LogRecord[] = Array.from({ length: PARTITIONS }, (_, partition) => ({
    key: EPOCH_KEY,
    value,
    partition,
  }));
  for (let tries = 1; isCurrent(); tries++) {
    try {
      await eventLog.publish(TASK_CHANGES_TOPIC, records);
      return;
    } catch (error) {
      if (error instanceof PublishError) records = [...error.reasons.keys()];
      if (tries === TRIES) return log.warn({ err: error, epoch }, 'the epoch could not be announced');
      await pause(backoffMs(tries, BACKOFF));
    }
  }
}
