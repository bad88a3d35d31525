import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../event-log.ts';
import { parseAddress, type Address, type ClientSettings } from './config.ts';
import { areLeadersReady } from './leaders-ready.ts';
import { createClient, createLibraryLogger } from './library.ts';
import { createNode } from './node.ts';
import { withDeadline } from './timing.ts';

const REQUEST_TIMEOUT_MS = 5_000;
const DEADLINE_MS = 10_000;
const CHECK_INTERVAL_MS = 50;
/** Kafka then applies its `default.replication.factor`. */
const BROKER_DEFAULT = -1;
/** Per partition: brokers keep any number of bytes by default, until their disks are full. Readers are seldom this far behind. */
const RETENTION = { name: 'retention.bytes', value: String(1024 ** 3) };

export interface EnsureTopicOptions {
  brokers: string[];
  settings: ClientSettings;
  topic: string;
  partitions: number;
  /** Aborts the attempt. */
  signal: AbortSignal;
  log: Logger;
}

/** Creates the topic unless it exists; waits until a new topic is usable. */
export async function ensureTopic(options: EnsureTopicOptions): Promise<void> {
  const late = AbortSignal.any([options.signal, AbortSignal.timeout(DEADLINE_MS)]);
  try {
    options.signal.throwIfAborted();
    const isNew = await createTopic(options);
    if (isNew) await awaitLeaders(options, late);
  } catch (cause) {
    throw new Error(`The topic ${options.topic} could not be made sure of.`, { cause });
  }
}

/** Resolves with false if the topic already exists. */
async function createTopic({ topic, partitions, signal, ...client }: EnsureTopicOptions): Promise<boolean> {
  const { kafka, cut } = createClient({ ...client, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const giveUp = () => cut('Given up.');
  signal.addEventListener('abort', giveUp);
  const admin = kafka.admin({ retry: { retries: 0 } });
  const make = async () => {
    await admin.connect();
    return admin.createTopics({
      topics: [{ topic, numPartitions: partitions, replicationFactor: BROKER_DEFAULT, configEntries: [RETENTION] }],
      waitForLeaders: false,
      timeout: REQUEST_TIMEOUT_MS,
    });
  };
  try {
    return await withDeadline(make(), DEADLINE_MS, `Kafka did not do it within ${DEADLINE_MS} ms.`);
  } finally {
    signal.removeEventListener('abort', giveUp);
    cut('Done.');
  }
}

/** Queries the brokers in turn, because any of them may be down. */
async function awaitLeaders({ brokers, settings, topic, log }: EnsureTopicOptions, late: AbortSignal): Promise<void> {
  const logger = createLibraryLogger(log);
  const seeds = brokers.map(parseAddress);
  const connect = (address: Address) => {
    const node = createNode({ address, settings, logger });
    late.addEventListener('abort', () => node.close(), { once: true });
    return node;
  };
  for (let seed = seeds.shift(); seed; seed = seeds.shift()) {
    seeds.push(seed);
    if (await areLeadersReady(topic, seed, connect).catch(() => false)) return;
    await sleep(CHECK_INTERVAL_MS, undefined, { signal: late });
  }
}
