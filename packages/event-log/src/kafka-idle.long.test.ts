import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requiredAddress } from '@taskmesh/testing';
import { createKafkaEventLog } from './kafka.ts';
import { SILENT } from './testing/silent.ts';

const SECONDS = 15;
const CLIENT = fileURLToPath(new URL('./testing/idle-client.ts', import.meta.url));

it('costs an idle process a fraction of what kafkajs alone does', async () => {
  const [broker = ''] = requiredAddress('KAFKA_BROKERS').split(',');
  const topic = `idle-${randomUUID()}`;
  const log = createKafkaEventLog({
    brokers: [broker],
    clientId: 'idle',
    log: SILENT,
  });
  await log.ensureTopic(topic, { partitions: 8 });
  await log.close();
  const shareOf = async (variant: 'stock' | 'ours') => {
    const { stdout } = await promisify(execFile)(process.execPath, [CLIENT, variant, broker, topic, String(SECONDS)]);
    return Number(stdout.trim());
  };
  const stock = await shareOf('stock');
  const ours = await shareOf('ours');
  const percent = (share: number) => `${(share * 100).toFixed(2)} % of a core`;
  console.info(`idle for ${SECONDS} s: kafkajs ${percent(stock)}, the event log ${percent(ours)}`);
  expect(ours).toBeGreaterThan(0);
  expect(ours).toBeLessThan(stock / 2);
}, 120_000);
