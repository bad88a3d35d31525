import type { EventLog, Logger, LogReader } from './event-log.ts';
import { registerCodecs } from './kafka/compression.ts';
import { clientSettings, parseAddress, type Address, type KafkaConfig, type TlsFiles } from './kafka/config.ts';
import { ensureTopic } from './kafka/ensure-topic.ts';
import { areLeadersReady } from './kafka/leaders-ready.ts';
import { createLibraryLogger, patchIdleTimer } from './kafka/library.ts';
import { createNode } from './kafka/node.ts';
import { createProducer } from './kafka/producer.ts';
import { createPublisher } from './kafka/publisher.ts';
import { createReader } from './kafka/reader.ts';

export type { KafkaConfig, TlsFiles };

const NO_TOPIC = 'none';

export interface KafkaEventLogOptions extends KafkaConfig {
  clientId: string;
  /** Prefix of every topic, for several installations on one cluster. @default '' */
  topicPrefix?: string | undefined;
  log: Logger;
  /** Returns a number from 0 up to 1. Adds jitter to the reconnects of many processes. @default Math.random */
  random?: () => number;
}

/**
 * An event log stored in Kafka. Connects on first use. `publish` and `ensureTopic` reject within ten seconds if Kafka does
 * not respond; readers retry forever, at least once a second.
 */
export function createKafkaEventLog(options: KafkaEventLogOptions): EventLog {
  const { brokers, clientId, log, topicPrefix = '', random = Math.random } = options;
  const named = (topic: string) => topicPrefix + topic;
  patchIdleTimer();
  registerCodecs();
  const settings = clientSettings(options, clientId);
  const logger = createLibraryLogger(log);
  const nextBrokers = rotating(brokers);
  const seeds = brokers.map(parseAddress);
  const onUnreadable = (topic: string, batches: number) =>
    log.error(
      { topic, batches },
      'batches of the event log were skipped: they are too large or cannot be decompressed',
    );
  const connect = (address: Address) => createNode({ address, settings, logger, onUnreadable });
  const publisher = createPublisher(createProducer({ seeds, connect, random, monotonicMs: () => performance.now() }));
  const readers = new Set<LogReader>();
  const closing = new AbortController();

  return {
    system: 'kafka',
    async ensureTopic(topic, { partitions, signal }) {
      if (closing.signal.aborted) throw new Error('The event log is closed.');
      const ended = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      await ensureTopic({ brokers: nextBrokers(), settings, topic: named(topic), partitions, signal: ended, log });
    },
    publish: (topic, records) => publisher.publish(named(topic), records),
    read(topic, onRecord) {
      const reader = createReader({ topic: named(topic), onRecord, log, random, seeds, connect });
      readers.add(reader);
      const stop = async () => {
        readers.delete(reader);
        await reader.stop();
      };
      if (closing.signal.aborted) void stop();
      return { ready: reader.ready, stop };
    },
    async isUp(topic) {
      if (closing.signal.aborted) return false;
      // In parallel, so that a broker that accepts a connection but stays silent does not use up the others' time.
      const checks = seeds.map(async (seed) => {
        if (!(await areLeadersReady(named(topic), seed, connect))) throw new Error('A leader does not respond.');
      });
      return Promise.any(checks).then(
        () => true,
        () => false,
      );
    },
    async close() {
      closing.abort();
      publisher.close();
      await Promise.all([...readers].map((reader) => reader.stop()));
      readers.clear();
    },
  };
}

/** Rotates the list with each call: kafkajs never gets past a first broker that accepts a connection but stays silent. */
function rotating(brokers: string[]): () => string[] {
  let calls = 0;
  return () => {
    const first = calls++ % brokers.length;
    return [...brokers.slice(first), ...brokers.slice(0, first)];
  };
}

/**
 * Requests metadata once from each broker, for a few seconds at most. Returns an error of kafkajs or Node per broker, or an
 * empty list if any broker responds as Kafka.
 */
export async function kafkaFailures(config: KafkaConfig): Promise<unknown[]> {
  patchIdleTimer();
  const logger = createLibraryLogger({ debug() {}, info() {}, warn() {}, error() {} });
  const settings = clientSettings(config, 'check');
  const failures = await Promise.all(
    config.brokers.map(async (broker) => {
      const node = createNode({ address: parseAddress(broker), settings, logger });
      try {
        await node.metadata(NO_TOPIC);
        return undefined;
      } catch (error) {
        // Only a working Kafka responds with a protocol error, for example that it does not know the topic.
        return Error.isError(error) && error.name === 'KafkaJSProtocolError' ? undefined : error;
      } finally {
        node.close();
      }
    }),
  );
  return failures.includes(undefined) ? [] : failures;
}
