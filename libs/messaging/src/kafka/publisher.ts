import type { LogRecord } from '../event-log.ts';
import { inBatches } from './batches.ts';
import type { ProducerConnection } from './producer.ts';

interface Job {
  topic: string;
  records: LogRecord[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface Publisher {
  publish(topic: string, records: LogRecord[]): Promise<void>;
  close(): void;
}

/**
 * Publishes one batch at a time, on a producer that is thrown away with its sockets after any failure: kafkajs' producer
 * does not recover from several of them, and keeps connections through which nothing comes.
 */
export function createPublisher({ connect }: { connect: () => ProducerConnection }): Publisher {
  const waiting: Job[] = [];
  let producer: ProducerConnection | undefined;
  let isWorking = false;
  let closed = false;

  const discard = (reason: string) => {
    producer?.close(reason);
    producer = undefined;
  };

  const work = async () => {
    isWorking = true;
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      try {
        for (const batch of inBatches(job.records)) {
          if (closed) throw new Error('The event log is closed.');
          await (producer ??= connect()).send(job.topic, batch);
        }
        job.resolve();
      } catch (cause) {
        discard('A publisher failed.');
        const error = new Error('The event log did not confirm the records.', { cause });
        for (const { reject } of [job, ...waiting.splice(0)]) reject(error);
      }
    }
    isWorking = false;
  };

  return {
    publish(topic, records) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (closed) reject(new Error('The event log is closed.'));
      else waiting.push({ topic, records, resolve, reject });
      if (!isWorking) void work();
      return promise;
    },
    close() {
      closed = true;
      discard('The event log is closed.');
    },
  };
}
