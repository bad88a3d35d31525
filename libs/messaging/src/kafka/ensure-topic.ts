import type { Log } from '@taskmesh/service';
import { createClient } from './client.ts';
import type { ClientSettings } from './config.ts';
import { withDeadline } from './deadline.ts';

const REQUEST_TIMEOUT_MS = 5_000;
const DEADLINE_MS = 10_000;
/** Kafka's own default, `default.replication.factor`. */
const AS_THE_BROKER_SAYS = -1;

export interface EnsureTopicOptions {
  brokers: string[];
  settings: ClientSettings;
  topic: string;
  partitions: number;
  log: Log;
}

/** Makes the topic unless it is there, and waits until it has leaders. */
export async function ensureTopic({ topic, partitions, ...client }: EnsureTopicOptions): Promise<void> {
  const { kafka, cut } = createClient({ ...client, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const admin = kafka.admin({ retry: { retries: 0 } });
  const make = async () => {
    await admin.connect();
    // Resolves with false for a topic that is there.
    await admin.createTopics({
      topics: [{ topic, numPartitions: partitions, replicationFactor: AS_THE_BROKER_SAYS }],
      waitForLeaders: true,
      timeout: REQUEST_TIMEOUT_MS,
    });
  };
  try {
    await withDeadline(make(), DEADLINE_MS);
  } catch (cause) {
    throw new Error(`The topic ${topic} could not be made sure of.`, { cause });
  } finally {
    cut('Done.');
  }
}
