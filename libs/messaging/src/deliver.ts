import type { Log } from '@taskmesh/service';
import type { LogRecord } from './event-log.ts';

/** Passes a record to a reader; an exception there must not hold up the following records. */
export function deliver(record: LogRecord, onRecord: (record: LogRecord) => void, log: Log | undefined): void {
  try {
    onRecord(record);
  } catch (error) {
    log?.error({ err: error }, 'a reader of the event log failed on a record');
  }
}
