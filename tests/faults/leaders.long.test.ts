import { numberFromEnv } from '@taskmesh/testing';
import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { findFreePorts, printLine, startKafka, type Server } from '@taskmesh/local';
import kafkajs from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS } from '../feed/streams/protocols.ts';
import type { Account, Latency } from './account.ts';
import { runCampaign, type DoneFault, type OwnerOptions } from './campaign.ts';
import { useStack } from '../stack.ts';
import { join } from 'node:path';

/** 16 bytes in base64, like the ids that Kafka makes. */
const CLUSTER_ID = 'TaskmeshOnThisMachineA';
/** Small heaps, because several brokers share one machine. */
const JVM = ['-Xms128m', '-Xmx384m'];

/**
 * Starts a Kafka of several nodes on 127.0.0.1, each of them broker and controller. Partitions have one replica, so those of a
 * node that is down have no leader. Does not work with Docker.
 */
async function startKafkaCluster(dataDir: string, brokers: number) {
  const ports = await findFreePorts(2 * brokers);
  const ids = Array.from({ length: brokers }, (_, index) => index + 1);
  const addressOf = (id: number) => `127.0.0.1:${ports[id - 1]}`;
  const controllerOf = (id: number) => `127.0.0.1:${ports[brokers + id - 1]}`;
  const voters = ids.map((id) => `${id}@${controllerOf(id)}`).join();
  const nodes = new Map<number, Server>();

  const start = async (id: number) => {
    const properties = [
      `node.id=${id}`,
      `listeners=PLAINTEXT://${addressOf(id)},CONTROLLER://${controllerOf(id)}`,
      `controller.quorum.voters=${voters}`,
      // Nodes on few cores are slow at times, and must not lose their partitions for that.
      'broker.session.timeout.ms=6000',
    ];
    const options = { dataDir: join(dataDir, `kafka-${id}`), log: () => {}, clusterId: CLUSTER_ID, jvm: JVM };
    nodes.set(id, await startKafka({ ...options, properties, port: ports[id - 1] ?? 0 }));
  };
  const stop = async () => void (await Promise.all([...nodes.values()].map((node) => node.stop())));

  const failed = (await Promise.allSettled(ids.map(start))).find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { urls: ids.map(addressOf), nodes, restart: start, stop };
}

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
const NODES = 3;
/** Longer than the relay retries a refused record before it becomes a dead letter. */
const AWAY_MS = 60_000;
const CALM_MS = 10_000;
/** The time in which the cluster and all its clients notice the change. */
const NOTICED_WITHIN_MS = 15_000;
/** Most changes would take longer without the event log, when gateways only compare with the store every two seconds. */
const PROMPT_MS = 1_000;

/** Owners with so many changes that, held back, they would fill any queue that they share with others. */
const BUSY: OwnerOptions = { paceMs: 80, writers: 2 };
const QUIET: OwnerOptions = { paceMs: 700, writers: 1, protocols: PROTOCOLS.slice(0, 1) };
const OWNERS = [...Array<OwnerOptions>(4).fill(BUSY), ...Array<OwnerOptions>(24).fill(QUIET)];

interface Outage {
  /** The id of the node. */
  node: number;
  /** The `performance.now()` from which on uninvolved accounts must not notice the outage. */
  from: number;
  to: number;
}

describe('the feed while a third of the partitions is without a leader', () => {
  let kafka: Awaited<ReturnType<typeof startKafkaCluster>>;
  const faulty = useStack('leaders', async (dataDir) => {
    kafka = await startKafkaCluster(dataDir, NODES);
    return { env: { KAFKA_BROKERS: kafka.urls.join() }, stop: kafka.stop };
  });

  /** Returns a function that finds the node with an owner's changes. */
  const readLeaders = async (): Promise<(ownerId: string) => number | undefined> => {
    const admin = new kafkajs.Kafka({ brokers: kafka.urls, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [TASK_CHANGES_TOPIC] });
    await admin.disconnect();
    const partitionMetadata = topics[0]?.partitions ?? [];
    const partitionOf = kafkajs.Partitioners.DefaultPartitioner();
    return (key) => {
      const partition = partitionOf({ topic: TASK_CHANGES_TOPIC, partitionMetadata, message: { key, value: null } });
      return partitionMetadata.find(({ partitionId }) => partitionId === partition)?.leader;
    };
  };

  const takeAway = async (node: number, kind: 'kill' | 'freeze'): Promise<Outage> => {
    const from = performance.now() + NOTICED_WITHIN_MS;
    printLine(`${kind} Kafka ${node} for ${AWAY_MS / 1000} s`);
    kafka.nodes.get(node)?.kill(kind === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    await sleep(AWAY_MS);
    const to = performance.now();
    if (kind === 'kill') await kafka.restart(node);
    else kafka.nodes.get(node)?.kill('SIGCONT');
    return { node, from, to };
  };

  const deadLetters = async () => {
    const response = await fetch(`${faulty.stack.urls[0]}/api/operations/dead-letters`);
    return ((await response.json()) as { data: object[] }).data;
  };

  it('continues at once for owners on other partitions, loses no change, and makes no dead letters', async () => {
    const outages: Outage[] = [];
    const leaderOf = await readLeaders();
    const takeTwoAway = async (_accounts: Account[], random: () => number): Promise<DoneFault[]> => {
      const first = Math.floor(random() * NODES);
      const kinds = ['kill', 'freeze'] as const;
      for (const [index, kind] of kinds.entries()) {
        await sleep(CALM_MS);
        outages.push(await takeAway(((first + index) % NODES) + 1, kind));
      }
      await sleep(CALM_MS);
      return kinds.map((kind) => ({ target: 'a Kafka node', kind }));
    };
    const { urls } = faulty.stack;
    const result = await runCampaign({ urls, seed: SEED, owners: OWNERS, faults: takeTwoAway });
    const late = outages.flatMap((outage) => {
      const [held, free] = [true, false].map((isHeld) =>
        result.accounts.filter(({ ownerId }) => (leaderOf(ownerId) === outage.node) === isHeld),
      );
      if (!held?.length || !free?.length) throw new Error('The owners are not spread over the nodes.');
      return free.flatMap(({ ownerId, latencies }) => {
        const ms = quantile(during(outage, latencies()), 0.75);
        return ms < PROMPT_MS ? [] : [`${ownerId} waited ${ms} ms without node ${outage.node}`];
      });
    });
    expect(result.findings).toEqual([]);
    expect(await deadLetters()).toEqual([]);
    expect(late).toEqual([]);
    expect(result.figures.writes.confirmed).toBeGreaterThan(1_000);
  }, 460_000);
});

const during = ({ from, to }: Outage, latencies: Latency[]): number[] =>
  latencies.filter(({ answeredAt }) => answeredAt > from && answeredAt < to).map(({ ms }) => ms);

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? Infinity);
}
