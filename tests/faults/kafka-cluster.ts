import { findFreePorts, startKafka, type Server } from '@taskmesh/local';
import { join } from 'node:path';

/** As Kafka makes them: 16 bytes. */
const CLUSTER_ID = 'TaskmeshOnThisMachineA';
/** They are several on one machine. */
const JVM = ['-Xms128m', '-Xmx384m'];

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
 */
export async function startKafkaCluster(dataDir: string, brokers: number): Promise<KafkaCluster> {
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
      // Nodes that share few cores are slow at times; that is no reason to take their partitions away.
      'broker.session.timeout.ms=6000',
    ];
    const options = {
      dataDir: join(dataDir, `kafka-${id}`),
      log: () => {},
      clusterId: CLUSTER_ID,
      properties,
      jvm: JVM,
    };
    nodes.set(id, await startKafka({ ...options, port: ports[id - 1] ?? 0 }));
  };
  const stop = async () => void (await Promise.all([...nodes.values()].map((node) => node.stop())));

  const starts = await Promise.allSettled(ids.map(start));
  const failed = starts.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { url: ids.map(addressOf).join(), nodes, restart: start, stop };
}
