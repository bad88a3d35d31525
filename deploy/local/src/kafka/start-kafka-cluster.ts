import { join } from 'node:path';
import { findFreePorts } from '../processes/free-port.ts';
import type { Server, ServerOptions } from '../server.ts';
import { newClusterId, startKafka } from './start-kafka.ts';

/** They are several on one machine. */
const JVM = ['-Xms128m', '-Xmx384m'];

export interface KafkaClusterOptions extends Omit<ServerOptions, 'port'> {
  brokers: number;
}

/** Brokers that know each other; any of them may be taken away and started again. */
export interface KafkaCluster {
  /** For clients: all of them. */
  url: string;
  /** By node id, each in its present life. */
  nodes: ReadonlyMap<number, Server>;
  /** Starts one again that has ended. */
  restart(id: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a Kafka of several nodes on 127.0.0.1, each of them broker and controller. There is one copy of each partition: the
 * partitions of a node that is away are without a leader. Not with Docker.
 * @throws PlainError
 */
export async function startKafkaCluster({ dataDir, log, brokers }: KafkaClusterOptions): Promise<KafkaCluster> {
  const ports = await findFreePorts(2 * brokers);
  const plans = Array.from({ length: brokers }, (_, index) => ({
    id: index + 1,
    port: ports[index] ?? 0,
    controllerPort: ports[brokers + index] ?? 0,
  }));
  const voters = plans.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(',');
  const clusterId = newClusterId();
  const nodes = new Map<number, Server>();

  const start = async ({ id, port, controllerPort }: (typeof plans)[number]) => {
    const properties = [
      `node.id=${id}`,
      `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      `controller.quorum.voters=${voters}`,
      // Nodes that share few cores are slow at times; that is no reason to take their partitions away.
      'broker.session.timeout.ms=6000',
    ];
    nodes.set(
      id,
      await startKafka({ dataDir: join(dataDir, `kafka-${id}`), log, port, clusterId, properties, jvm: JVM }),
    );
  };
  const stop = async () => {
    await Promise.all([...nodes.values()].map((node) => node.stop()));
  };

  const results = await Promise.allSettled(plans.map(start));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return {
    url: plans.map(({ port }) => `127.0.0.1:${port}`).join(','),
    nodes,
    async restart(id) {
      const plan = plans.find((each) => each.id === id);
      if (!plan) throw new Error(`There is no node ${id}.`);
      await start(plan);
    },
    stop,
  };
}
