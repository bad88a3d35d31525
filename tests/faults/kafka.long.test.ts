import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, startKafka, type Server } from '@taskmesh/local';
import { createKafkaEventLog, type EventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { eventually, makeTempDir } from '@taskmesh/testing';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

const dir = makeTempDir();
let kafka: Server;
let log: EventLog;
let topic: string;

const start = async () => {
  kafka = await startKafka({ dataDir: join(dir, 'kafka'), log: () => undefined, port });
};

/** Publishes 1, 2, 3, … for every key, and repeats unconfirmed records, as the relay does. */
function startPublishing() {
  let confirmed = 0;
  let failures = 0;
  let longestMs = 0;
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      const begun = performance.now();
      const records = KEYS.map((key) => ({ key, value: String(confirmed + 1) }));
      const isTaken = await log.publish(topic, records).then(
        () => true,
        () => false,
      );
      longestMs = Math.max(longestMs, performance.now() - begun);
      if (isTaken) confirmed += 1;
      else failures += 1;
      await sleep(isTaken ? 5 : 100);
    }
  };
  const ended = run();
  return {
    confirmed: () => confirmed,
    failures: () => failures,
    longestMs: () => longestMs,
    async stop() {
      stopped = true;
      await ended;
    },
  };
}

/** Reads the next number of each key, as the gateway does: drops repeated numbers, and reports gaps. */
async function startReading() {
  const last = new Map(KEYS.map((key) => [key, 0]));
  const gaps: string[] = [];
  let count = 0;
  const reader = log.read(topic, ({ key, value }) => {
    const [seen = 0, number] = [last.get(key), Number(value)];
    count += 1;
    if (number > seen + 1) gaps.push(`${key}: ${number} after ${seen}`);
    last.set(key, Math.max(seen, number));
  });
  await reader.ready();
  return { lowest: () => Math.min(...last.values()), gaps, count: () => count };
}

const port = await findFreePort();
await start();
afterAll(() => kafka.stop(), 180_000);

beforeEach(async () => {
  topic = `faults-${randomUUID()}`;
  log = createKafkaEventLog({
    brokers: [`127.0.0.1:${port}`],
    clientId: 'faults',
    log: createLog({ service: 'faults', level: 'silent' }),
  });
  await log.ensureTopic(topic, { partitions: 4 });
});
afterEach(() => log.close());

it('loses no confirmed record and leaves no gap while its broker is killed twice', async () => {
  const reading = await startReading();
  const publishing = startPublishing();
  await eventually(() => reading.lowest() >= 50);
  for (const _ of ['first', 'second']) {
    kafka.kill('SIGKILL');
    await kafka.exited;
    const before = publishing.confirmed();
    await start();
    await eventually(() => publishing.confirmed() > before + 50, { timeoutMs: 30_000 });
    await eventually(() => reading.lowest() > before + 50, { timeoutMs: 10_000 });
  }
  await publishing.stop();
  await eventually(() => reading.lowest() >= publishing.confirmed());
  expect(reading.gaps).toEqual([]);
  expect(publishing.failures()).toBeGreaterThan(0);
}, 240_000);

it('continues within seconds after its broker was frozen, and no publish hangs in the meantime', async () => {
  const reading = await startReading();
  const publishing = startPublishing();
  await eventually(() => reading.lowest() >= 50);
  kafka.kill('SIGSTOP');
  await sleep(12_000);
  const before = publishing.confirmed();
  const failures = publishing.failures();
  kafka.kill('SIGCONT');
  const thawed = performance.now();
  await eventually(() => publishing.confirmed() > before + 50 && reading.lowest() > before + 50, { timeoutMs: 20_000 });
  const backMs = performance.now() - thawed;
  await publishing.stop();
  await eventually(() => reading.lowest() >= publishing.confirmed());
  expect(reading.gaps).toEqual([]);
  expect(failures).toBeGreaterThan(0);
  expect(publishing.longestMs()).toBeLessThan(10_000);
  expect(backMs).toBeLessThan(10_000);
});

it('reads from the first record after its broker came back empty', async () => {
  const reading = await startReading();
  const publishing = startPublishing();
  await eventually(() => reading.lowest() >= 50);
  await publishing.stop();
  await eventually(() => reading.lowest() >= publishing.confirmed());

  await kafka.stop();
  rmSync(join(dir, 'kafka'), { recursive: true });
  await start();
  await eventually(() => log.ensureTopic(topic, { partitions: 4 }).then(() => true), { timeoutMs: 30_000 });
  // More records than before, so that the old offsets exist in the new log, too.
  const upTo = publishing.confirmed() * 2 + 100;
  const records = Array.from({ length: upTo }, (_, index) =>
    KEYS.map((key) => ({ key, value: String(index + 1) })),
  ).flat();
  const countBefore = reading.count();
  await eventually(() => log.publish(topic, records).then(() => true), { timeoutMs: 30_000 });
  await eventually(() => reading.lowest() >= upTo, { timeoutMs: 20_000 });
  expect(reading.gaps).toEqual([]);
  expect(reading.count() - countBefore).toBeGreaterThanOrEqual(records.length);
}, 240_000);

it('becomes ready when a broker that was down at the start comes up', async () => {
  kafka.kill('SIGKILL');
  await kafka.exited;
  const late = createKafkaEventLog({
    brokers: [`127.0.0.1:${port}`],
    clientId: 'late',
    log: createLog({ service: 'late', level: 'silent' }),
  });
  const values: string[] = [];
  const reader = late.read(topic, ({ value }) => values.push(value));
  await sleep(3_000);
  await start();
  await reader.ready();
  await eventually(() => log.publish(topic, [{ key: 'k', value: 'hello' }]).then(() => true), { timeoutMs: 30_000 });
  await eventually(() => values.includes('hello'));
  await late.close();
});
