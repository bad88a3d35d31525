import { createDelivery } from '../delivery.ts';
import type { Logger, LogReader } from '../event-log.ts';
import type { Address } from './config.ts';
import { createFollower, type Follower, type FollowerOptions } from './follower.ts';
import type { Node } from './node.ts';
import { createPositions } from './positions.ts';
import { backoffMs, pause } from './timing.ts';
import { byLeader, type ClusterMetadata, type PartitionMetadata } from './topic-metadata.ts';

const REFRESH_MS = 5_000;
/** While the topic or a leader is missing, metadata is refreshed more often. */
const REFRESH_INCOMPLETE_MS = 500;

export interface ReaderOptions extends Pick<FollowerOptions, 'topic' | 'onRecord' | 'log' | 'random'> {
  /** Queried in turn for metadata, which names further brokers. */
  seeds: Address[];
  connect: (address: Address) => Node;
}

/**
 * Reads all partitions of a topic from the end, forever, without a consumer group. Positions stay in memory across
 * reconnects. A group would lose the records published between its members' death and return. Each leader has its own
 * follower, so that a failing leader does not affect the others.
 */
export function createReader(options: ReaderOptions): LogReader {
  const { topic, seeds, connect, log, random } = options;
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const positions = createPositions();
  const delivery = createDelivery(options.onRecord, log);
  const outage = createOutage(log, topic);
  const nextAddress = rotating(seeds);
  /** Keyed by topic id, leader and partitions. */
  const followers = new Map<string, Follower>();
  let metadataNode: Node | undefined;
  let isStopped = false;
  /** Aborted to refresh the metadata early. */
  let pausing = new AbortController();

  const onPositions = () => {
    if (positions.areSettled()) settle();
  };
  const stopFollowers = (names: string[]) =>
    Promise.all(
      names.map(async (name) => {
        await followers.get(name)?.stop();
        followers.delete(name);
      }),
    );
  const follow = (topicId: string, address: Address, partitions: number[]) =>
    createFollower({
      ...{ ...options, topicId, partitions, positions, onPositions, onRecord: delivery.add, room: delivery.room },
      connect: () => connect(address),
      onFailure(partition, error) {
        outage.failed(partition, error);
        // The leader may have changed. While metadata requests fail, refreshing more often does not help.
        if (outage.failures('metadata') === 0) pausing.abort();
      },
      onProgress: outage.end,
    });

  /** Keeps followers whose partitions are unchanged, and stops the others before new ones start. */
  const assign = async (metadata: ClusterMetadata) => {
    const { id = '' } = metadata.topic ?? {};
    const wanted = new Map(
      byLeader(metadata).map(([address, partitions]) => [
        [id, address.host, address.port, ...partitions].join(' '),
        () => follow(id, address, partitions),
      ]),
    );
    await stopFollowers([...followers.keys()].filter((name) => !wanted.has(name)));
    if (isStopped) return;
    positions.reconcile(metadata.topic);
    outage.keep(metadata.topic?.partitions.map(({ partition }) => partition) ?? []);
    onPositions();
    for (const [name, start] of wanted) if (!followers.has(name)) followers.set(name, start());
  };

  /** Refreshes the metadata. Resolves with the time until the next refresh, in ms. */
  const refresh = async (): Promise<number> => {
    try {
      metadataNode ??= connect(nextAddress());
      const metadata = await metadataNode.metadata(topic);
      nextAddress.learn(metadata.brokers);
      await assign(metadata);
      outage.end('metadata');
      const orphans = metadata.topic?.partitions.filter(isWithoutLeader) ?? [];
      for (const { partition } of orphans) outage.failed(partition, new Error('The partition has no leader.'));
      return metadata.topic && orphans.length === 0 ? REFRESH_MS : REFRESH_INCOMPLETE_MS;
    } catch (error) {
      metadataNode?.close();
      metadataNode = undefined;
      if (!isStopped) outage.failed('metadata', error);
      return backoffMs(outage.failures('metadata'), random);
    }
  };

  const run = async () => {
    while (!isStopped) {
      pausing = new AbortController();
      await pause(await refresh(), pausing.signal);
    }
    await stopFollowers([...followers.keys()]);
  };
  const ended = run();

  return {
    ready: () => settled,
    async stop() {
      isStopped = true;
      delivery.stop();
      void stopFollowers([...followers.keys()]);
      metadataNode?.close();
      pausing.abort();
      settle(); // a stopped reader must not leave `ready` pending
      await ended;
    },
  };
}

const isWithoutLeader = ({ leader }: PartitionMetadata) => leader < 0;

/** Returns another broker with each call: first the configured ones, then those learnt from the cluster. */
function rotating(seeds: Address[]) {
  let known: Address[] = [];
  let calls = 0;
  const next = (): Address => {
    const addresses = [...seeds, ...known];
    const address = addresses[calls++ % addresses.length];
    if (!address) throw new Error('There is no broker to connect to.');
    return address;
  };
  return Object.assign(next, { learn: (addresses: Address[]) => (known = addresses) });
}

/** A broker restart or a change of leader costs one attempt. Only longer failures are logged. */
const FAILURES_TO_LOG = 3;

type Part = number | 'metadata';

/** Counts each part's consecutive failures. Logs once when reading stalls, and once when all parts are read again. */
function createOutage(log: Logger, topic: string) {
  const failures = new Map<Part, number>();
  let isLogged = false;
  const end = (part: Part) => {
    if (!failures.delete(part) || failures.size > 0) return;
    if (isLogged) log.info({ topic }, 'the event log is read again');
    isLogged = false;
  };
  return {
    failed(part: Part, error: unknown): void {
      const count = (failures.get(part) ?? 0) + 1;
      failures.set(part, count);
      if (isLogged || count < FAILURES_TO_LOG) return;
      isLogged = true;
      log.warn({ err: error, topic, part }, 'the event log cannot be read; retrying');
    },
    end,
    keep(partitions: number[]): void {
      for (const part of failures.keys()) if (part !== 'metadata' && !partitions.includes(part)) end(part);
    },
    failures: (part: Part): number => failures.get(part) ?? 0,
  };
}
