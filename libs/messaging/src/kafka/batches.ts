import type { LogRecord } from '../event-log.ts';

/** A broker refuses a batch over 1 MiB (`message.max.bytes`); all records of one request may fall into one batch. */
const BATCH_MAX_BYTES = 512 * 1024;
/** What the format adds to a record, generously. */
const RECORD_OVERHEAD_BYTES = 64;

/** Cuts records into requests, in their order. A record that is too large by itself is a request of its own. */
export function* inBatches(records: LogRecord[]): Generator<LogRecord[]> {
  let batch: LogRecord[] = [];
  let batchBytes = 0;
  for (const record of records) {
    const bytes = sizeBytes(record);
    if (batch.length > 0 && batchBytes + bytes > BATCH_MAX_BYTES) {
      yield batch;
      [batch, batchBytes] = [[], 0];
    }
    batch.push(record);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}

function sizeBytes({ key, value, headers = {} }: LogRecord): number {
  const texts = [key, value, ...Object.entries(headers).flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), RECORD_OVERHEAD_BYTES);
}
