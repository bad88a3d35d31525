import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import kafkajs, { type Message } from 'kafkajs';
import { JSON_TYPE, type Case } from './case.ts';
import { KAFKA } from './measured-product.ts';
import { subscribe } from './sockets.ts';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs;

type Compress = (bytes: Buffer) => Promise<Buffer>;

/** A batch in the partition of the account, after which the account's feed must continue. */
function batch(name: string, type: 'GZIP' | 'ZSTD', compress: Compress, messages: (key: string) => Message[]): Case {
  return {
    ...{ kind: 'batch', name, by: 'operator', outcome: 'next' },
    async send({ url, send }, { token, taskId }, turn) {
      const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      CompressionCodecs[CompressionTypes[type]] = () => ({
        compress: ({ buffer }: { buffer: Buffer }) => compress(buffer),
        decompress: () => Promise.reject(new Error('Nothing is read here.')),
      });
      const kafka = new Kafka({ brokers: KAFKA.brokers.split(','), logLevel: logLevel.NOTHING });
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await producer.connect();
      const stream = await subscribe(url, token, 'subscription { taskChanges { cursor } }');
      try {
        const topic = KAFKA.topicPrefix + TASK_CHANGES_TOPIC;
        await producer.send({ topic, messages: messages(sub), compression: CompressionTypes[type] });
        const headers = { ...JSON_TYPE, authorization: `Bearer ${token}` };
        const change = { method: 'PATCH', headers, body: JSON.stringify({ category: `k${turn}` }) };
        const [received] = await Promise.all([stream.next(), send(`/api/tasks/${taskId}`, change)]);
        return received;
      } finally {
        stream.close();
        await producer.disconnect();
      }
    },
  };
}

/** Empty without a Kafka; `npm test` has one. */
export const batches: readonly Case[] = KAFKA.brokers
  ? [
      batch('16 MiB of zeros', 'ZSTD', promisify(zstdCompress), (key) => [{ key, value: Buffer.alloc(16 * 2 ** 20) }]),
      batch('10,000 records that are no changes', 'GZIP', promisify(gzip), (key) =>
        Array.from({ length: 10_000 }, () => ({ key, value: '{"no":"change"}' })),
      ),
    ]
  : [];
