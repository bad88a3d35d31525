import type { Log } from '@taskmesh/service';
import type { LogRecord } from './event-log.ts';

/** Hands a record to a reader; one that throws must not hold up the records behind it. */
export function deliver(record: LogRecord, onRecord: (record: LogRecord) => void, log: Log | undefined): void {
  try {
    onRecord(record);
  } catch (error) {
    log?.error({ err: error }, 'a reader of the event log failed on a record');
  }
}
