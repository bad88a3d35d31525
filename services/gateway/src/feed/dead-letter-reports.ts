import type { TasksInternal, UnreadableRecord } from '@taskmesh/internal-api';
import { type Log, pause } from '@taskmesh/service';
import pLimit from 'p-limit';

/** Exceeded only in a flood of invalid records; the rest are dropped. */
const MAX_WAITING = 100;
/** Bounds what a flood costs the tasks service, and the log. */
const SEND_EVERY_MS = 100;
const RETRY_MS = 2_000;

/** Sends unreadable records, one at a time, to the tasks service, which keeps them for operators. */
export function createDeadLetterReports(tasks: Pick<TasksInternal, 'reportUnreadable'>, log: Log) {
  const sendLimited = pLimit(1);
  const stopping = new AbortController();
  let dropped = 0;

  const send = async (record: UnreadableRecord) => {
    for (let isSent = false; !isSent && !stopping.signal.aborted;) {
      // Failures are not logged, as they would flood the log.
      isSent = await tasks.reportUnreadable(record).then(
        () => true,
        () => false,
      );
      await pause(isSent ? SEND_EVERY_MS : RETRY_MS, stopping.signal);
    }
    if (dropped === 0 || sendLimited.pendingCount > 0) return;
    log.error({ dropped }, 'further records of the event log could not be read, and are not kept');
    dropped = 0;
  };

  return {
    add(record: UnreadableRecord): void {
      if (sendLimited.pendingCount >= MAX_WAITING) return void dropped++;
      log.error({ key: record.key, reason: record.reason }, 'a record of the event log could not be read');
      void sendLimited(() => send(record));
    },
    stop: (): void => stopping.abort(),
  };
}
