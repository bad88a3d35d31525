import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, type Log } from '@taskmesh/service';
import type { LogReader, LogRecord } from '../event-log.ts';
import { BACKOFF } from './backoff.ts';
import type { Address } from './config.ts';
import { createFollower, type Follower } from './follower.ts';
import type { Node } from './node.ts';
import { createOutage } from './outage.ts';
import { createPositions } from './positions.ts';
import { byLeader, type ClusterMetadata, type PartitionMetadata } from './topic-metadata.ts';

const REFRESH_MS = 5_000;
/** While the topic or one of its leaders is missing, its coming must not wait for the next ordinary look. */
const REFRESH_INCOMPLETE_MS = 500;

export interface ReaderOptions {
  topic: string;
  onRecord: (record: LogRecord) => void;
  /** Asked how the topic looks, one after the other; more of them are learnt. */
  seeds: Address[];
  connect: (address: Address) => Node;
  log: Log;
  random: () => number;
}

/**
 * Reads all partitions of a topic without a consumer group, from the end on, for ever: connections come and go, the
 * positions stay in memory. A group would lose what is published between its members' death and their return.
 * Each leader is followed by itself, so that the trouble of one is nobody else's.
 */
export function createReader(options: ReaderOptions): LogReader {
  const { topic, seeds, connect, log, random } = options;
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const positions = createPositions();
  const outage = createOutage(log, topic);
  const nextAddress = inTurn(seeds);
  /** By what they follow. */
  const followers = new Map<string, Follower>();
  let guide: Node | undefined;
  let isStopped = false;
  /** Aborted when it is time for another look. */
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
      ...{ ...options, topicId, partitions, positions, onPositions },
      connect: () => connect(address),
      onFailure(partition, error) {
        outage.failed(partition, error);
        // Somebody else may lead it by now. When nobody can tell, asking more often does not help.
        if (outage.failures('metadata') === 0) pausing.abort();
      },
      onProgress: outage.end,
    });

  /** Followers of what did not change go on; the others end before anything is followed anew. */
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

  /** Gives how long the picture is good for. */
  const look = async (): Promise<number> => {
    try {
      guide ??= connect(nextAddress());
      const metadata = await guide.metadata(topic);
      nextAddress.learn(metadata.brokers);
      await assign(metadata);
      outage.end('metadata');
      const orphans = metadata.topic?.partitions.filter(isWithoutLeader) ?? [];
      for (const { partition } of orphans) outage.failed(partition, new Error('The partition has no leader.'));
      return metadata.topic && orphans.length === 0 ? REFRESH_MS : REFRESH_INCOMPLETE_MS;
    } catch (error) {
      guide?.close();
      guide = undefined;
      if (!isStopped) outage.failed('metadata', error);
      return backoffMs(outage.failures('metadata'), BACKOFF, random);
    }
  };

  const run = async () => {
    while (!isStopped) {
      pausing = new AbortController();
      await sleep(await look(), undefined, { signal: pausing.signal }).catch(() => undefined);
    }
    guide?.close();
    await stopFollowers([...followers.keys()]);
  };
  const ended = run();

  return {
    ready: () => settled,
    async stop() {
      isStopped = true;
      void stopFollowers([...followers.keys()]); // at once: perhaps one of them is delivering to who calls this
      guide?.close();
      pausing.abort();
      settle(); // nobody waits for a reader that is gone
      await ended;
    },
  };
}

const isWithoutLeader = ({ leader }: PartitionMetadata) => leader < 0;

/** Another broker at each call: first the given ones, then those that the cluster told of. */
function inTurn(seeds: Address[]) {
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
