import type { TasksInternal, UnreadableRecord } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';

/** Exceeded only in a flood of invalid records; the rest are dropped. */
const MAX_WAITING = 100;
/** Bounds what a flood costs the tasks service, and the log. */
const SEND_EVERY_MS = 100;
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
  let dropped = 0;

  const send = async () => {
    isSending = true;
    for (let record = waiting[0]; record && !stopping.signal.aborted; record = waiting[0]) {
      try {
        await tasks.reportUnreadable(record);
        waiting.shift();
        await pause(SEND_EVERY_MS);
      } catch {
        // The tasks service is unavailable; retries are not logged, as they would flood the log.
        await pause(RETRY_MS);
      }
    }
    isSending = false;
    if (dropped > 0) log.error({ dropped }, 'further records of the event log could not be read, and are not kept');
    dropped = 0;
  };

  return {
    add(record) {
      if (waiting.length >= MAX_WAITING) return void dropped++;
      log.error({ key: record.key, reason: record.reason }, 'a record of the event log could not be read');
      waiting.push(record);
      if (!isSending) void send();
    },
    stop: () => stopping.abort(),
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref());
