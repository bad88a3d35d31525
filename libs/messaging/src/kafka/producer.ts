import type { Log } from '@taskmesh/service';
import kafkajs from 'kafkajs';
import type { LogRecord } from '../event-log.ts';
import { createClient } from './client.ts';
import type { ClientSettings } from './config.ts';
import { withDeadline } from './deadline.ts';

const { Partitioners } = kafkajs;

const ACKS_FROM_ALL = -1;
/** The broker gives up before we do, so that its reason reaches us. */
const ACK_TIMEOUT_MS = 4_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** Over everything, connecting included. */
const SEND_DEADLINE_MS = 8_000;

export interface ProducerConnection {
  /** Resolves when all in-sync replicas have the records. After a rejection close it: its state is not known. */
  send(topic: string, records: LogRecord[]): Promise<void>;
  close(reason: string): void;
}

export interface ProducerOptions {
  brokers: string[];
  settings: ClientSettings;
  log: Log;
}

/**
 * Not idempotent: that protects only tries of one producer, and here each failure ends the producer. It never tries twice
 * by itself either, so what happened is the caller's to see.
 */
export function createProducer(options: ProducerOptions): ProducerConnection {
  const { kafka, cut } = createClient({ ...options, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
    maxInFlightRequests: 1,
    idempotent: false,
    retry: { retries: 0 },
  });
  let connected: Promise<void> | undefined;

  return {
    async send(topic, messages) {
      const sent = (async () => {
        await (connected ??= producer.connect());
        await producer.send({ topic, messages, acks: ACKS_FROM_ALL, timeout: ACK_TIMEOUT_MS });
      })();
      await withDeadline(sent, SEND_DEADLINE_MS);
    },
    close: cut,
  };
}
