import { jest } from '@jest/globals';
import writtenByLibrary from 'kafkajs/src/protocol/requests/produce/v7/request.js';
import type { LogRecord } from '../event-log.ts';
import { encodeProduceRequest, type Batch } from './produce-request.ts';

const NOW_MS = Date.parse('2026-11-24T12:00:00.123Z');
const ACKS = { acks: -1, timeoutMs: 4_000 };

beforeEach(() => void jest.useFakeTimers({ now: NOW_MS }));
afterEach(() => void jest.useRealTimers());

async function expectSameBytes(topic: string, batches: Batch[]) {
  const topicData = [
    { topic, partitions: batches.map(({ partition, records }) => ({ partition, messages: records })) },
  ];
  const { buffer } = await writtenByLibrary({ acks: ACKS.acks, timeout: ACKS.timeoutMs, topicData }).encode();
  const written = encodeProduceRequest({ ...ACKS, topic, batches, nowMs: NOW_MS });
  expect(written.buffer.toString('hex')).toBe(buffer.toString('hex'));
  expect(written.size()).toBe(buffer.length);
}

const record = (value: string, more: Partial<LogRecord> = {}): LogRecord => ({ key: 'k', value, ...more });

it.each<[string, LogRecord[]]>([
  ['one record', [record('v')]],
  ['nothing but empty texts', [record('', { key: '' })]],
  ['characters of several bytes, and halves of some', [record('ä€😀\ud800 \udc00', { key: 'ü\ud83d' })]],
  ['headers', [record('v', { headers: { traceparent: '00-ab-cd-01', ä: '', '': '€' } }), record('w', { headers: {} })]],
  ['a record of a megabyte', [record('x'.repeat(2 ** 20)), record('y')]],
])('writes %s as kafkajs does', async (_what, records) => {
  await expectSameBytes('taskmesh.tasks.changes', [{ partition: 3, records }]);
});

it('writes several partitions, and more records than one byte can count, as kafkajs does', async () => {
  const records = (count: number) =>
    Array.from({ length: count }, (_, n) => record('v'.repeat(n), { key: `key ${n}` }));
  await expectSameBytes('tøpic', [
    { partition: 0, records: records(1) },
    { partition: 1_000_000, records: records(500) },
    { partition: 7, records: records(64) },
    { partition: 2, records: records(65) },
  ]);
});

it('writes values of every length around the ends of lengths as kafkajs does', async () => {
  const lengths = [0, 1, 63, 64, 65, 8_190, 8_191, 8_192, 8_193, 1_048_575, 1_048_576];
  const ends = lengths.flatMap((length) => Array.from({ length: 16 }, (_, less) => Math.max(0, length - less)));
  const records = [...new Set(ends)].map((length) => record('v'.repeat(length)));
  await expectSameBytes('t', [{ partition: 0, records }]);
});
