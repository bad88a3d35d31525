import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger, LogRecord } from './event-log.ts';
import { createSlowSteps } from './slow-steps.ts';

/** Limits for what waits for a reader: records of a key, and characters of all. A record beyond them replaces the oldest of its key. */
const MAX_OF_KEY = 1_000;
const MAX_WAITING = 8 * 1024 * 1024;
/** A record's size apart from its value. */
const OVERHEAD = 256;

const sizeOf = ({ value }: LogRecord) => value.length + OVERHEAD;

/**
 * Passes records to a reader, in order per key. Keys take turns, so that one whose records take long does not delay the
 * others. A reader that is far behind loses the oldest records of a key.
 */
export function createDelivery(onRecord: (record: LogRecord) => void, log: Logger | undefined) {
  const waiting = new Map<string, LogRecord[]>();
  let size = 0;
  let isDelivering = false;
  let isStopped = false;

  const takeOldest = (own: LogRecord[]): LogRecord | undefined => {
    const record = own.shift();
    if (record) size -= sizeOf(record);
    return record;
  };

  /** An exception in the reader must not hold up later records. */
  const deliver = (record: LogRecord) => {
    try {
      if (!isStopped) onRecord(record);
    } catch (error) {
      log?.error({ err: error }, 'a reader of the event log failed on a record');
    }
  };

  const deliverWaiting = async () => {
    const steps = createSlowSteps();
    for (const [key, own] of waiting) {
      const record = takeOldest(own);
      if (waiting.delete(key) && own.length > 0) waiting.set(key, own); // its next turn comes last
      if (record) await steps.run(() => deliver(record));
    }
    isDelivering = false;
  };

  return {
    add(record: LogRecord): void {
      // One delivery per turn of the event loop passes on all waiting records, so that a burst costs one wake-up.
      if (!isDelivering) setImmediate(() => void deliverWaiting());
      isDelivering = true;
      const own = waiting.get(record.key) ?? [];
      waiting.set(record.key, own);
      own.push(record);
      size += sizeOf(record);
      // A key's only record has twice the room: another key may have filled the first half.
      const isTooMuch = () => own.length > MAX_OF_KEY || size > (own.length === 1 ? 2 : 1) * MAX_WAITING;
      while (own.length > 0 && isTooMuch()) takeOldest(own);
    },
    /** Resolves when half of the room is free, for logs that can wait. */
    async room(): Promise<void> {
      while (size > MAX_WAITING / 2 && !isStopped) await nextTurn();
    },
    /** Nothing is delivered afterwards. */
    stop: () => void (isStopped = true),
  };
}
