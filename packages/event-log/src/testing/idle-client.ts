import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { createKafkaEventLog } from '../kafka.ts';
import { SILENT } from './silent.ts';

// Publishes one record, reads it, then stays idle; prints the share of a core used while idle.
// Usage: idle-client.ts <stock | ours> <host:port> <topic> <seconds>

const SETTLE_MS = 3_000;

const [variant, broker = '', topic = '', seconds = ''] = process.argv.slice(2);
await (variant === 'stock' ? startStock() : startOurs());
await sleep(SETTLE_MS);
const before = process.cpuUsage();
const begun = performance.now();
await sleep(Number(seconds) * 1_000);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / 1_000 / (performance.now() - begun)}\n`);
process.exit(0);

async function startStock(): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: [broker], clientId: 'idle', logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `idle-${process.pid}` });
  await consumer.connect();
  await consumer.subscribe({ topic });
  const { promise, resolve } = Promise.withResolvers<void>();
  await consumer.run({ eachMessage: async () => resolve() });
  const producer = kafka.producer();
  await producer.connect();
  const again = setInterval(() => void producer.send({ topic, messages: [{ key: 'k', value: 'v' }] }), 500);
  await promise;
  clearInterval(again);
}

async function startOurs(): Promise<void> {
  const log = createKafkaEventLog({
    brokers: [broker],
    clientId: 'idle',
    log: SILENT,
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  await log.read(topic, () => resolve()).ready();
  await log.publish(topic, [{ key: 'k', value: 'v' }]);
  await promise;
}
