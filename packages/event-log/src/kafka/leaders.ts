import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import type { LogRecord } from '../event-log.ts';
import type { Address } from './config.ts';
import type { ProducingNode } from './node.ts';
import { backoffMs, pause } from './timing.ts';
import { byLeader } from './topic-metadata.ts';

const UNKNOWN_TOPIC_OR_PARTITION = 3;
const LEADER_NOT_AVAILABLE = 5;
/** Metadata is refreshed this often, because partitions may be added without notice. */
const MAX_AGE_MS = 300_000;
/** Metadata that may be outdated are refreshed at most this often. */
const STALE_MAX_AGE_MS = 100;
/** How long to keep trying brokers in turn; each silent one takes a while. */
const TRY_BROKERS_MS = 3_000;

/** Requests metadata of no topic, to check only that a broker responds. */
const NO_TOPIC = '';

export interface LeadersOptions {
  seeds: Address[];
  connect: (address: Address) => ProducingNode;
  random: () => number;
  monotonicMs: () => number;
}

/** The partition and leader of a record, or the reason why there is no leader. */
export type Destination =
  { partition: number; leader: string } | { partition: number; leader?: undefined; reason: unknown };

interface TopicLeaders {
  partitions: number;
  leaders: Map<number, string>;
  takenMs: number;
  isStale: boolean;
}

/** Knows the leader of each partition and keeps the connections to leaders. A leader is identified by `host:port`. */
export function createLeaders({ seeds, connect, random, monotonicMs }: LeadersOptions) {
  let addresses = byName(seeds);
  const nodes = new Map<string, ProducingNode>();
  const absent = new Map<string, unknown>();
  const byTopic = new Map<string, TopicLeaders>();
  const closing = new AbortController();

  const open = (name: string): ProducingNode => {
    const address = addresses.get(name);
    if (closing.signal.aborted || !address) throw new Error('The connection is closed.');
    const node = nodes.get(name) ?? connect(address);
    nodes.set(name, node);
    return node;
  };

  const leave = (name: string, reason: unknown) => {
    nodes.get(name)?.close();
    nodes.delete(name);
    if (closing.signal.aborted || absent.has(name)) return;
    absent.set(name, reason);
    void awaitReturn(name).finally(() => absent.delete(name));
  };

  const awaitReturn = async (name: string) => {
    for (let tries = 1; ; tries++) {
      await pause(backoffMs(tries, random), closing.signal);
      const address = addresses.get(name);
      if (closing.signal.aborted || !address) return;
      const node = connect(address);
      const isBack = await node.metadata(NO_TOPIC).then(() => true, hasResponded);
      node.close();
      if (isBack) return;
    }
  };

  /** Sends a request. A leader that does not respond is avoided, and its partitions have no leader, until it responds again. */
  const request = async <Result>(name: string, send: (node: ProducingNode) => Promise<Result>): Promise<Result> => {
    try {
      return await send(open(name));
    } catch (error) {
      if (!hasResponded(error)) leave(name, error);
      throw error;
    }
  };

  const fetchLeaders = async (topic: string): Promise<TopicLeaders> => {
    let reason: unknown = absent.values().next().value ?? new Error('There is no broker to connect to.');
    const begunMs = monotonicMs();
    for (const name of addresses.keys()) {
      if (absent.has(name) || monotonicMs() - begunMs > TRY_BROKERS_MS) continue;
      try {
        const metadata = await request(name, (node) => node.metadata(topic));
        if (!metadata.topic) throw createErrorFromCode(UNKNOWN_TOPIC_OR_PARTITION);
        addresses = byName([...seeds, ...metadata.brokers]);
        const leaders = byLeader(metadata).flatMap(([leader, led]) =>
          led.map((partition) => [partition, nameOf(leader)] as const),
        );
        return {
          partitions: metadata.topic.partitions.length,
          leaders: new Map(leaders),
          takenMs: monotonicMs(),
          isStale: false,
        };
      } catch (error) {
        reason = error;
      }
    }
    throw reason;
  };

  const currentLeaders = async (topic: string): Promise<TopicLeaders> => {
    const known = byTopic.get(topic);
    const ageMs = known ? monotonicMs() - known.takenMs : Infinity;
    if (known && ageMs < (known.isStale ? STALE_MAX_AGE_MS : MAX_AGE_MS)) return known;
    const fetched = await fetchLeaders(topic);
    byTopic.set(topic, fetched);
    return fetched;
  };

  return {
    /** @returns a function that maps a record to its place. Rejects when no broker responds, or the topic does not exist. */
    async of(topic: string) {
      const { partitions, leaders } = await currentLeaders(topic);
      return ({ key }: LogRecord): Destination => {
        const partition = partitionOf(key, partitions);
        const leader = leaders.get(partition);
        if (leader === undefined) return { partition, reason: createErrorFromCode(LEADER_NOT_AVAILABLE) };
        return absent.has(leader) ? { partition, reason: absent.get(leader) } : { partition, leader };
      };
    },
    /** Marks the metadata of the topic as possibly outdated. */
    markStale(topic: string) {
      const known = byTopic.get(topic);
      if (known) known.isStale = true;
    },
    request,
    /** Rejects pending requests. */
    close() {
      closing.abort();
      for (const name of [...nodes.keys()]) leave(name, undefined);
    },
  };
}

/** The Java client's default partitioner, so that a key has the same partition whichever client publishes it. */
function partitionOf(key: string, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

function byName(addresses: Address[]): Map<string, Address> {
  return new Map(addresses.map((address) => [nameOf(address), address]));
}

function nameOf({ host, port }: Address): string {
  return `${host}:${port}`;
}

/** A broker that responds with an error is up. */
function hasResponded(error: unknown): boolean {
  return error instanceof Error && 'type' in error && 'code' in error;
}
