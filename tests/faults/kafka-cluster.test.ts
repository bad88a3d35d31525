import { killNotedProcesses } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { Kafka, logLevel } from 'kafkajs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafkaCluster } from './kafka-cluster.ts';

const dir = mkdtempSync(join(tmpdir(), 'taskmesh-kafka-cluster-'));
afterAll(() => {
  killNotedProcesses(dir); // of a test that failed
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

it('starts brokers that share the partitions, and takes one that was away back', async () => {
  const cluster = await startKafkaCluster(dir, 3);
  const kafka = new Kafka({ brokers: cluster.url.split(','), logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createTopics({ topics: [{ topic: 'shared', numPartitions: 6 }], waitForLeaders: true });
    const leaders = async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: ['shared'] });
      return new Set(topics[0]?.partitions.map(({ leader }) => leader));
    };
    expect(await leaders()).toEqual(new Set([1, 2, 3]));
    cluster.nodes.get(2)?.kill('SIGKILL');
    await cluster.nodes.get(2)?.exited;
    await eventually(() => expect(leaders()).rejects.toThrow('leader'));
    await cluster.restart(2);
    await eventually(async () => expect(await leaders()).toEqual(new Set([1, 2, 3])));
  } finally {
    await admin.disconnect();
    await cluster.stop();
  }
}, 180_000);
