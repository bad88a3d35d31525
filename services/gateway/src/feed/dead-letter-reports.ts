import type { TasksInternal, UnreadableRecord } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';

/** Exceeded only in a flood of invalid records; the rest are logged and dropped. */
const MAX_WAITING = 100;
const RETRY_MS = 2_000;

export interface DeadLetterReports {
  add(record: UnreadableRecord): void;
  stop(): void;
}

/** Sends unreadable records, one at a time, to the tasks service, which keeps them for operators. */
export function createDeadLetterReports(tasks: Pick<TasksInternal, 'reportUnreadable'>, log: Log): DeadLetterReports {
  const waiting: UnreadableRecord[] = [];
  const stopping = new AbortController();
  let isSending = false;

  const send = async () => {
    isSending = true;
    for (let record = waiting[0]; record && !stopping.signal.aborted; record = waiting[0]) {
      try {
        await tasks.reportUnreadable(record);
        waiting.shift();
      } catch {
        // The tasks service is unavailable; retries are not logged, as they would flood the log.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    isSending = false;
  };

  return {
    add(record) {
      const isKept = waiting.length < MAX_WAITING;
      log.error({ key: record.key, reason: record.reason, isKept }, 'a record of the event log could not be read');
      if (isKept) waiting.push(record);
      if (!isSending) void send();
    },
    stop: () => stopping.abort(),
  };
}
