import type { LogRecord } from '../event-log.ts';

/** Brokers refuse batches over 1 MiB (`message.max.bytes`), and all records of a request may fall into one batch. */
const BATCH_MAX_BYTES = 512 * 1024;
/** A generous estimate of what the format adds to a record. */
const RECORD_OVERHEAD_BYTES = 64;

/** Splits records into requests, in order. A record that exceeds the limit alone is a request of its own. */
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
