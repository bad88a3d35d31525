import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { jest } from '@jest/globals';
import { atEnd, createFaultyProxy, type FaultyProxy, eventually, listen, requiredAddress } from '@taskmesh/testing';
import kafkajs, { type Admin } from 'kafkajs';
import { compressFrame } from 'lz4-napi';
import { compress } from 'snappy';
import { describeEventLog, SILENT } from './testing/event-log.contract.ts';
import { isRefusedForGood, PublishError, type EventLog, type LogRecord } from './event-log.ts';
import { createKafkaEventLog, kafkaFailures } from './kafka.ts';
import { parseAddress } from './kafka/config.ts';

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs;

const brokers = () => requiredAddress('KAFKA_BROKERS').split(',');
const opened: { close(): Promise<void> }[] = [];
const create = (options: Partial<Parameters<typeof createKafkaEventLog>[0]> = {}) => {
  const log = createKafkaEventLog({ brokers: brokers(), clientId: 'test', log: SILENT, ...options });
  opened.push(log);
  return log;
};
afterAll(() => Promise.all(opened.map((log) => log.close())));

describeEventLog('Kafka', create);

describe('an event log in Kafka', () => {
  let log: EventLog;
  let admin: Admin;
  let topic: string;

  beforeAll(async () => {
    log = create();
    admin = new Kafka({ brokers: brokers(), clientId: 'test', logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });
  beforeEach(async () => {
    topic = `kafka-${randomUUID()}`.padEnd(127, '-'); // the first length that takes two bytes
    await log.ensureTopic(topic, { partitions: 1 });
  });
  afterAll(() => admin.disconnect());

  const read = async (of = log, from = topic) => {
    const values: string[] = [];
    const reader = of.read(from, ({ value }) => values.push(value));
    await reader.ready();
    return { ...reader, values };
  };
  const createTopic = (name: string, setting: string, value: string, numPartitions = 1) =>
    admin.createTopics({
      topics: [{ topic: name, numPartitions, configEntries: [{ name: setting, value }] }],
      waitForLeaders: true,
    });
  const record = (value: unknown, key = 'k'): LogRecord => ({ key, value: String(value) });

  it('creates a topic once for parallel calls, and separates installations with different prefixes', async () => {
    const staging = create({ topicPrefix: 'staging.' });
    await Promise.all(Array.from({ length: 5 }, () => staging.ensureTopic(topic, { partitions: 2 })));
    const ours = await read();
    const theirs = await read(staging);
    await staging.publish(topic, [record('theirs')]);
    await log.publish(topic, [record('ours')]);
    await eventually(() => expect([ours.values, theirs.values]).toEqual([['ours'], ['theirs']]));
    const { topics } = await admin.fetchTopicMetadata({ topics: [`staging.${topic}`] });
    expect(topics[0]?.partitions).toHaveLength(2);
  });

  it('bounds what a topic that it creates keeps, and leaves an existing one as it is', async () => {
    const existing = `${topic}-existing`;
    await createTopic(existing, 'retention.bytes', '5000000');
    await log.ensureTopic(existing, { partitions: 1 });
    const asked = [topic, existing].map((name) => ({
      ...{ type: ConfigResourceTypes.TOPIC, name, configNames: ['retention.bytes'] },
    }));
    const { resources } = await admin.describeConfigs({ resources: asked, includeSynonyms: false });
    expect(resources.map((each) => each.configEntries[0]?.configValue)).toEqual([String(2 ** 30), '5000000']);
  });

  it('accepts records exactly once while a topic is being created and not all partitions have leaders', async () => {
    const fresh = `${topic}-fresh`;
    const values: string[] = [];
    const reader = log.read(fresh, ({ value }) => values.push(value));
    const making = log.ensureTopic(fresh, { partitions: 8 });
    const all = Array.from({ length: 40 }, (_, index) => record(index, `key ${index}`));
    for (let left = all; left.length > 0;) {
      const error: unknown = await log.publish(fresh, left).catch((reason: unknown) => reason);
      left = error instanceof PublishError ? left.filter((each) => error.reasons.has(each)) : [];
    }
    await making;
    await eventually(() => new Set(values).size === 40);
    expect(values.toSorted()).toEqual(all.map(({ value }) => value).toSorted());
    await reader.stop();
  });

  it('accepts records exactly once if they are published together with a record that the broker rejects', async () => {
    const narrow = `${topic}-narrow`;
    await createTopic(narrow, 'max.message.bytes', '20000', 4);
    const { values, stop } = await read(log, narrow);
    const small = Array.from({ length: 40 }, (_, index) => record(index, `key ${index}`));
    const huge = record('x'.repeat(30_000), 'key 7');
    const error: unknown = await log.publish(narrow, [huge, ...small]).catch((reason: unknown) => reason);
    if (!(error instanceof PublishError)) throw new Error('no PublishError', { cause: error });
    const [ofHuge, ofBehind] = error.reasons.values();
    expect([...error.reasons.keys()]).toEqual([huge, small[7]]);
    expect([isRefusedForGood(ofHuge), isRefusedForGood(ofBehind)]).toEqual([true, false]);
    await log.publish(narrow, [record(7, 'key 7')]);
    await eventually(() => values.length >= 40);
    expect(values.toSorted()).toEqual(small.map(({ value }) => value).toSorted());
    await stop();
  });

  it('reads a recreated topic from its first record, even if it is longer than the old one', async () => {
    const { values } = await read();
    await log.publish(topic, [record('old 1'), record('old 2')]);
    await eventually(() => values.length === 2);
    await admin.deleteTopics({ topics: [topic] });
    const later = Array.from({ length: 50 }, (_, index) => `new ${index}`);
    const records = later.map((value) => record(value));
    await eventually(() => log.ensureTopic(topic, { partitions: 1 }));
    await eventually(() => log.publish(topic, records));
    await eventually(() => values.length >= 52);
    expect(values.slice(2)).toEqual(later);
  });

  it('reads partitions that are added later from their first record', async () => {
    const { values } = await read();
    await admin.createPartitions({ topicPartitions: [{ topic, count: 6 }] });
    const publishing = create(); // a new client knows the new partitions
    const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`);
    const records = keys.map((key) => record(key, key));
    await eventually(() => publishing.publish(topic, records));
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    expect(topics[0]?.partitions).toHaveLength(6);
    // A publish that failed halfway was sent again, so values may repeat.
    await eventually(() => expect(new Set(values)).toEqual(new Set(keys)), { timeoutMs: 15_000 });
  });

  it.each(['gzip', 'snappy', 'lz4', 'zstd', 'uncompressed'])(
    'reads a topic whose records the broker stores as %s',
    async (type) => {
      const stored = `${topic}-${type}`;
      await createTopic(stored, 'compression.type', type);
      const seen: LogRecord[] = [];
      await log.read(stored, (record) => seen.push(record)).ready();
      // Large enough for several blocks of each format.
      const sent = Array.from({ length: 100 }, (_, index) => ({
        key: 'k',
        value: `${index}:${randomUUID().repeat(100)}`,
        headers: { traceparent: `00-${index}` },
      }));
      await log.publish(stored, sent);
      await log.publish(stored, [{ key: 'k', value: '', headers: {} }]);
      await eventually(() => seen.length > 100);
      expect(seen).toEqual([...sent, { key: 'k', value: '', headers: {} }]);
    },
  );

  /** Sends each text in its own batch, compressed with `pack`. */
  const sendPacked = async (
    texts: string[],
    { type, pack }: { type: keyof typeof CompressionCodecs; pack: (text: Buffer) => Promise<Buffer> },
  ) => {
    const producer = new Kafka({ brokers: brokers(), clientId: 'test', logLevel: logLevel.NOTHING }).producer();
    const codec = CompressionCodecs[type]();
    await producer.connect();
    const packing = jest.spyOn(CompressionCodecs, type);
    packing.mockReturnValue({ ...codec, compress: ({ buffer }: { buffer: Buffer }) => pack(buffer) });
    try {
      for (const value of texts) await producer.send({ topic, messages: [{ key: 'k', value }], compression: type });
    } finally {
      packing.mockRestore();
      await producer.disconnect();
    }
  };

  // Snappy in one piece, as non-Java producers write it.
  it.each([
    ['gzip', CompressionTypes.GZIP, (text: Buffer) => promisify(gzip)(text)],
    ['snappy', CompressionTypes.Snappy, (text: Buffer) => compress(text)],
    ['lz4', CompressionTypes.LZ4, (text: Buffer) => compressFrame(text)],
    ['zstd', CompressionTypes.ZSTD, (text: Buffer) => promisify(zstdCompress)(text)],
  ] as const)('reads %s batches of clients, and skips a batch that decompresses to too much', async (_, type, pack) => {
    const lines: string[] = [];
    const error = (_fields: object, message: string) => void lines.push(message);
    const { values } = await read(create({ log: { ...SILENT, error } }));
    const large = 'large'.repeat(50_000);
    await sendPacked(['before', large, '0'.repeat(16 * 1024 * 1024), 'behind'], { type, pack });
    await eventually(() => values.includes('behind'));
    expect(values).toEqual(['before', large, 'behind']);
    expect(lines.join('')).toContain('batches of the event log were skipped');
  });

  it('finds a working broker among the configured ones, and runs no timers while idle', async () => {
    const some = create({ brokers: ['127.0.0.1:1', '127.0.0.1:2', ...brokers()] });
    const { values } = await read(some);
    await some.publish(topic, [record(1)]);
    await eventually(() => values.length === 1);
    expect([await some.isUp(topic), await some.isUp(`none-${randomUUID()}`)]).toEqual([true, false]);
    const { setTimeout } = globalThis;
    const armed = jest.spyOn(globalThis, 'setTimeout');
    atEnd(() => armed.mockRestore());
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(armed.mock.calls.filter(([, delayMs = 0]) => delayMs < 50)).toEqual([]);
  });

  describe('when Kafka is unreachable', () => {
    it('rejects publishing and creating topics, and stops readers that never became ready', async () => {
      const nowhere = create({ brokers: ['127.0.0.1:1'] });
      const reader = nowhere.read(topic, () => undefined);
      await expect(nowhere.publish(topic, [record(1)])).rejects.toThrow('did not confirm');
      await expect(nowhere.ensureTopic(topic, { partitions: 1 })).rejects.toThrow(topic);
      expect(await nowhere.isUp(topic)).toBe(false);
      await nowhere.close();
      await reader.ready();
    });

    it('logs an outage only once', async () => {
      const lines: string[] = [];
      const write = (_fields: object, message: string) => void lines.push(message);
      const nowhere = create({
        brokers: ['127.0.0.1:1'],
        random: () => 0,
        log: { debug() {}, info: write, warn: write, error: write },
      });
      nowhere.read(topic, () => undefined);
      await eventually(() => lines.length > 0);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(lines).toEqual(['the event log cannot be read; retrying']);
    });
  });

  it('is not considered up only because a port is open', async () => {
    const { port } = await listen(createServer((socket) => socket.on('data', () => socket.destroy())));
    expect(await kafkaFailures({ brokers: [`127.0.0.1:${port}`] })).toHaveLength(1);
    expect(await kafkaFailures({ brokers: [`127.0.0.1:${port}`, ...brokers()] })).toEqual([]);
  });

  describe('when Kafka accepts connections but does not respond', () => {
    let proxy: FaultyProxy;
    let frozen: EventLog;
    beforeEach(async () => {
      proxy = await createFaultyProxy(parseAddress(brokers()[0] ?? ''));
      opened.push(proxy);
      proxy.freeze();
      frozen = create({ brokers: [`${proxy.host}:${proxy.port}`] });
    });

    it('stops creating a topic as soon as it is aborted or the log is closed', async () => {
      const giveUp = new AbortController();
      const making = async (signal?: AbortSignal) => {
        const before = proxy.connections();
        const made = frozen
          .ensureTopic(topic, { partitions: 1, ...(signal && { signal }) })
          .then(() => 'made', (error: Error) => error.message); // prettier-ignore
        await eventually(() => expect(proxy.connections()).toBeGreaterThan(before));
        return { made };
      };
      const [aborted, closed] = [await making(giveUp.signal), await making()];
      const begun = performance.now();
      giveUp.abort();
      expect(await aborted.made).toContain('could not be made sure of');
      await frozen.close();
      expect(await closed.made).toContain('could not be made sure of');
      expect(performance.now() - begun).toBeLessThan(4_000); // far below its own deadline of ten seconds
      expect(await frozen.ensureTopic(topic, { partitions: 1 }).catch(String)).toContain('closed');
    });

    it('rejects in time, drops the connection, and closes at once', async () => {
      frozen.read(topic, () => undefined);
      const begun = performance.now();
      await expect(frozen.publish(topic, [record(1)])).rejects.toThrow('did not confirm');
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(await frozen.isUp(topic)).toBe(false);
      await eventually(() => expect(proxy.connections()).toBeGreaterThan(2)); // reader and publisher keep trying

      const cutOff = frozen.publish(topic, [record(2)]);
      const closing = performance.now();
      await Promise.all([expect(cutOff).rejects.toThrow(), frozen.close()]);
      expect(performance.now() - closing).toBeLessThan(4_000); // as above
    });
  });
});
