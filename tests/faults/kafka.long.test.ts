import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, startKafka, type Server } from '@taskmesh/local';
import { createKafkaEventLog, type EventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { eventually, makeTempDir } from '@taskmesh/testing';

// That no record is lost, repeated or reordered meanwhile is tested under load, with the whole stack (campaign.long.test.ts).

const FROZEN_MS = 12_000;

const dir = makeTempDir();
const port = await findFreePort();
let kafka: Server;
let log: EventLog;
let topic: string;
let values: string[];

const start = async () => {
  kafka = await startKafka({ dataDir: join(dir, 'kafka'), log: () => undefined, port });
};
const publish = (value: string) => log.publish(topic, [{ key: 'k', value }]);
const read = () => log.read(topic, ({ value }) => values.push(value));
const create = () =>
  createKafkaEventLog({
    brokers: [`127.0.0.1:${port}`],
    clientId: 'faults',
    log: createLog({ service: 'faults', level: 'silent' }),
  });

beforeAll(start, 180_000);
afterAll(() => kafka.stop(), 180_000);

beforeEach(async () => {
  topic = `faults-${randomUUID()}`;
  values = [];
  log = create();
  await log.ensureTopic(topic, { partitions: 4 });
});
afterEach(() => log.close());

it('continues within seconds after its broker was frozen', async () => {
  await read().ready();
  await publish('before');
  await eventually(() => values.includes('before'));
  kafka.kill('SIGSTOP');
  const frozen = performance.now();
  for (let begun = frozen; begun - frozen < FROZEN_MS; begun = performance.now()) {
    await expect(publish('meanwhile')).rejects.toThrow('did not confirm');
    expect(performance.now() - begun).toBeLessThan(10_000);
  }
  kafka.kill('SIGCONT');
  const thawed = performance.now();
  await eventually(() => publish('after').then(() => true));
  await eventually(() => values.includes('after'));
  expect(performance.now() - thawed).toBeLessThan(10_000);
}, 60_000);

it('becomes ready when a broker that was down at the start comes up', async () => {
  await log.close();
  kafka.kill('SIGKILL');
  await kafka.exited;
  log = create();
  const reader = read();
  await sleep(3_000);
  await start();
  await reader.ready();
  await eventually(() => publish('hello').then(() => true));
  await eventually(() => values.includes('hello'));
}, 60_000);
