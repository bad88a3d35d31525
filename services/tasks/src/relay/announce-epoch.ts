import { EPOCH_KEY, TASK_CHANGES_TOPIC, type EpochBegan } from '@taskmesh/events';
import { PublishError, type EventLog, type LogRecord } from '@taskmesh/messaging';
import { backoffMs, type Log } from '@taskmesh/service';
import { PARTITIONS } from '../feed/partition.ts';

const BACKOFF = { firstMs: 500, longestMs: 15_000 };
/** Gateways compare epochs by themselves, too: nothing depends on an announcement. */
const TRIES = 10;

export interface AnnouncementDeps {
  eventLog: Pick<EventLog, 'publish'>;
  log: Log;
  pause: (ms: number) => Promise<unknown>;
  /** Whether it is still our store that this is about. */
  isCurrent: () => boolean;
}

/**
 * Tells the store's epoch on every partition, so that gateways learn of a restore at once. A gateway that has this epoch
 * already, or a higher one, makes nothing of it.
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
