import { PublishError, type LogRecord } from '../event-log.ts';
import { withoutBlocked, type Producer, type Reasons } from './producer.ts';

interface Job {
  topic: string;
  records: LogRecord[];
  /** Earlier records that were not appended. Later records of the same keys must not overtake them. */
  blocked: Reasons;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Publishes one job at a time, in call order. A record that was not appended holds back queued records of its key. */
export function createPublisher(producer: Producer) {
  const waiting: Job[] = [];
  let isWorking = false;
  let closed = false;

  const sendAll = async ({ topic, records, blocked }: Job): Promise<Reasons> => {
    const reasons: Reasons = new Map();
    const waited = withoutBlocked(records, blocked, reasons);
    for (const batch of inBatches(waited)) {
      const free = withoutBlocked(batch, reasons, reasons);
      if (free.length === 0) continue;
      for (const [record, reason] of await producer.send(topic, free)) reasons.set(record, reason);
    }
    return reasons;
  };

  const work = async () => {
    isWorking = true;
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const reasons = await sendAll(job);
      if (reasons.size === 0) {
        job.resolve();
        continue;
      }
      job.reject(new PublishError(reasons));
      for (const { topic, blocked } of waiting)
        if (topic === job.topic) for (const [record, reason] of reasons) blocked.set(record, reason);
    }
    isWorking = false;
  };

  return {
    publish(topic: string, records: LogRecord[]): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (closed) reject(new Error('The event log is closed.'));
      else waiting.push({ topic, records, blocked: new Map(), resolve, reject });
      if (!isWorking) void work();
      return promise;
    },
    close(): void {
      closed = true;
      producer.close();
    },
  };
}

/** Brokers refuse batches over 1 MiB (`message.max.bytes`), and all records of a request may fall into one batch. */
const BATCH_MAX_BYTES = 512 * 1024;
/** A generous estimate of the format's overhead per record. */
const RECORD_OVERHEAD_BYTES = 64;

/** Splits records into requests, in order. A record that exceeds the limit by itself gets its own request. */
function* inBatches(records: LogRecord[]): Generator<LogRecord[]> {
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
