import { kafkaFailures } from '@taskmesh/event-log';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { isAlive } from './processes/process-table.ts';
import { temporaryDir } from './testing.ts';
import { startKafka } from './kafka.ts';

const CACHE = join(import.meta.dirname, '../../../.cache');
const dir = temporaryDir('kafka');

async function withAdmin<Result>(
  broker: string,
  action: (admin: ReturnType<Kafka['admin']>) => Promise<Result>,
): Promise<Result> {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await action(admin);
  } finally {
    await admin.disconnect();
  }
}

it('our own Kafka accepts requests as soon as it is started, and recovers its topics after a kill', async () => {
  const options = { dataDir: join(dir, 'a größer, Kafka'), log: () => undefined, cacheDir: CACHE };
  const server = await startKafka(options);
  const topics = [{ topic: 'kept', numPartitions: 3 }];
  expect(await withAdmin(server.url, (admin) => admin.createTopics({ topics, waitForLeaders: true }))).toBe(true);
  expect(existsSync(join(options.dataDir, 'data', 'kept-0'))).toBe(true);
  server.kill('SIGKILL');
  await server.exited;
  expect(await kafkaFailures({ brokers: [server.url] })).toHaveLength(1);

  const next = await startKafka({ ...options, port: server.port });
  expect(next.url).toBe(server.url);
  expect(await withAdmin(next.url, (admin) => admin.listTopics())).toContain('kept');
  await next.stop();
  expect(isAlive(next.pid)).toBe(false);
}, 120_000);
