import { parseTaskChanged, type TaskChanged } from '@taskmesh/contracts';
import { errorMessage } from '@taskmesh/contracts/error-details';
import type { LogRecord } from '@taskmesh/event-log';
import type { TasksInternal, UnreadableRecord } from '@taskmesh/internal-api';
import { type Log, pause } from '@taskmesh/service';
import pLimit from 'p-limit';

/** Exceeded only in a flood of invalid records; the rest are dropped. */
const MAX_WAITING = 100;
/** Bounds what a flood costs the tasks service, and the log. */
const SEND_EVERY_MS = 100;
const RETRY_MS = 2_000;
/** The tasks service keeps no more, and refuses a request of more than 1 MiB. */
const MAX_REPORTED_CHARACTERS = 64 * 1024;

/** Reads records of the event log. Sends unreadable ones, one at a time, to the tasks service, which keeps them for operators. */
export function createRecordReader(tasks: Pick<TasksInternal, 'reportUnreadable'>, log: Log) {
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

  const report = ({ key, value }: LogRecord, reason: string): void => {
    if (sendLimited.pendingCount >= MAX_WAITING) return void dropped++;
    log.error({ key, reason }, 'a record of the event log could not be read');
    const record = { key, value: value.slice(0, MAX_REPORTED_CHARACTERS), reason };
    void sendLimited(() => send(record));
  };

  return {
    /** Returns undefined, and reports the record, unless it has a change of this owner alone. */
    read(record: LogRecord): TaskChanged | undefined {
      try {
        const change = parseTaskChanged(record.value);
        for (const { ownerId } of [change, change.task, change.previous ?? change.task])
          if (ownerId !== record.key) throw new Error('The key is not the owner of the change.');
        return change;
      } catch (error) {
        report(record, errorMessage(error));
        return undefined;
      }
    },
    report,
    stop: (): void => stopping.abort(),
  };
}
