import type { EventLog, Logger, LogReader } from './event-log.ts';
import { registerCodecs } from './kafka/compression.ts';
import { clientSettings, parseAddress, type Address, type KafkaConfig, type TlsFiles } from './kafka/config.ts';
import { ensureTopic } from './kafka/ensure-topic.ts';
import { leadersAnswer } from './kafka/leaders-answer.ts';
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
  /** From 0 up to 1: spreads the reconnects of many processes. */
  random?: () => number;
}

/**
 * The event log in Kafka. Connects on first use. `publish` and `ensureTopic` reject within ten seconds when Kafka does
 * not answer; readers retry forever, at least once a second.
 */
export function createKafkaEventLog(options: KafkaEventLogOptions): EventLog {
  const { brokers, clientId, log, topicPrefix = '', random = Math.random } = options;
  const named = (topic: string) => topicPrefix + topic;
  patchIdleTimer();
  registerCodecs();
  const settings = clientSettings(options, clientId);
  const logger = createLibraryLogger(log);
  const nextBrokers = inTurn(brokers);
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
      // All at once: a broker that accepts and stays silent would use up the time of the others.
      const asked = seeds.map(async (seed) => {
        if (!(await leadersAnswer(named(topic), seed, connect))) throw new Error('A leader does not answer.');
      });
      return Promise.any(asked).then(
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

/** The list, rotated with each call: the library never gets past a first broker that accepts and stays silent. */
function inTurn(brokers: string[]): () => string[] {
  let turns = 0;
  return () => {
    const first = turns++ % brokers.length;
    return [...brokers.slice(first), ...brokers.slice(0, first)];
  };
}

/**
 * Asks each broker once, for some seconds at most: why each of them does not answer as Kafka. Empty when one does; the
 * errors are kafkajs's and Node's.
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
        // An answer that only a working Kafka gives: it does not know the topic, for example.
        return Error.isError(error) && error.name === 'KafkaJSProtocolError' ? undefined : error;
      } finally {
        node.close();
      }
    }),
  );
  return failures.includes(undefined) ? [] : failures;
}
