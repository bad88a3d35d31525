import { randomUUID } from 'node:crypto';
import { createSlowWork, eventually } from '@taskmesh/testing';
import type { EventLog, Logger, LogReader, LogRecord } from '../event-log.ts';

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const numbered = (key: string, from: number, to: number): LogRecord[] =>
  numbers(from, to).map((number) => ({ key, value: String(number) }));

export function describeEventLog(name: string, create: () => EventLog): void {
  describe(`event log: ${name}`, () => {
    let log: EventLog;
    let topic: string;

    beforeAll(() => {
      log = create();
    });
    beforeEach(async () => {
      topic = `contract-${randomUUID()}`;
      await log.ensureTopic(topic, { partitions: 4 });
    });
    afterAll(() => log.close());

    const read = async (of = topic): Promise<LogReader & { records: LogRecord[]; valuesOf(key: string): number[] }> => {
      const records: LogRecord[] = [];
      const reader = log.read(of, (record) => records.push(record));
      await reader.ready();
      const valuesOf = (key: string) =>
        records.filter((record) => record.key === key).map(({ value }) => Number(value));
      return { ...reader, records, valuesOf };
    };

    it('delivers key, value and headers as they were published', async () => {
      const { records } = await read();
      const full = { key: 'clé', value: '{"title":"🐎"}', headers: { traceparent: '00-ab-cd-01', empty: '' } };
      await log.publish(topic, [full]);
      await log.publish(topic, [{ key: 'bare', value: '' }]);
      await eventually(() => records.length === 2);
      expect(records).toEqual(expect.arrayContaining([full, { key: 'bare', value: '', headers: {} }]));
    });

    it('keeps the order of concurrent publishes', async () => {
      const reader = await read();
      await Promise.all(numbers(1, 50).map((value) => log.publish(topic, [{ key: 'k', value: String(value) }])));
      await eventually(() => reader.records.length >= 50);
      expect(reader.valuesOf('k')).toEqual(numbers(1, 50));
    });

    it('accepts any number of records at once, including none, and keeps the order of each key without loss or duplicates', async () => {
      const keys = ['a', 'b', 'c', 'd', 'e'];
      const reader = await read();
      const filler = ' '.repeat(10_000);
      for (const last of [10, 20, 100])
        await log.publish(
          topic,
          numbers(last / 2 + 1, last).flatMap((value) => keys.map((key) => ({ key, value: `${value}${filler}` }))),
        );
      await log.publish(topic, []);
      await log.ensureTopic(topic, { partitions: 4 }); // changes nothing
      await eventually(() => reader.records.length >= 325, { timeoutMs: 20_000 });
      for (const key of keys) expect(reader.valuesOf(key)).toEqual([...numbers(6, 20), ...numbers(51, 100)]);
    });

    it('delivers all records of a topic to each of its readers, and to no others', async () => {
      const other = `contract-${randomUUID()}`;
      await log.ensureTopic(other, { partitions: 1 });
      const [one, two, elsewhere] = await Promise.all([read(), read(), read(other)]);
      await log.publish(topic, numbered('k', 1, 3));
      await log.publish(other, numbered('k', 7, 7));
      await eventually(() => one.records.length >= 3 && two.records.length >= 3 && elsewhere.records.length >= 1);
      expect([one.valuesOf('k'), two.valuesOf('k'), elsewhere.valuesOf('k')]).toEqual([[1, 2, 3], [1, 2, 3], [7]]);
    });

    it('delivers records published after a reader is ready, and nothing older', async () => {
      const early = await read();
      await log.publish(topic, numbered('k', 1, 5));
      await eventually(() => early.records.length === 5);
      const late = await read();
      await log.publish(topic, numbered('k', 6, 8));
      await eventually(() => late.records.length >= 3);
      expect(late.valuesOf('k')).toEqual([6, 7, 8]);
    });

    it('continues for all readers when one throws', async () => {
      const tried: string[] = [];
      const faulty = log.read(topic, ({ value }) => {
        tried.push(value);
        throw new Error('a faulty reader');
      });
      await faulty.ready();
      const reader = await read();
      await log.publish(topic, numbered('k', 1, 3));
      await log.publish(topic, numbered('k', 4, 4));
      await eventually(() => tried.length >= 4 && reader.records.length >= 4);
      expect(tried).toEqual(['1', '2', '3', '4']);
      expect(reader.valuesOf('k')).toEqual([1, 2, 3, 4]);
    });

    it('lets other work run while a reader processes many records slowly', async () => {
      const { work, done } = createSlowWork();
      await log.read(topic, work).ready();
      await log.publish(topic, numbered('slow', 1, 100));
      await eventually(() => done.count === 100);
      expect(done.mostInOneTurn).toBeLessThanOrEqual(6);
    });

    it('lets keys take turns, so that many records of one do not delay another', async () => {
      const single = `contract-${randomUUID()}`;
      await log.ensureTopic(single, { partitions: 1 });
      const { records } = await read(single);
      await log.publish(single, [...numbered('many', 1, 50), ...numbered('other', 1, 1)]);
      await eventually(() => records.length === 51);
      expect(records.findIndex(({ key }) => key === 'other')).toBeLessThan(5);
    });

    it('delivers nothing to a stopped reader, even if it stops itself in a callback', async () => {
      const seen: string[] = [];
      let stopped: Promise<void> | undefined;
      const stopping = log.read(topic, ({ value }) => {
        seen.push(value);
        if (value === '2') stopped = stopping.stop();
      });
      await stopping.ready();
      const staying = await read();
      await log.publish(topic, numbered('k', 1, 5));
      await log.publish(topic, numbered('k', 6, 6));
      await eventually(() => staying.records.length >= 6 && seen.length >= 2);
      await stopped;
      expect(seen).toEqual(['1', '2']);
      await stopping.stop();
    });

    it('lets a reader publish the records that it reads to another topic', async () => {
      const next = `contract-${randomUUID()}`;
      await log.ensureTopic(next, { partitions: 1 });
      const end = await read(next);
      const between = log.read(topic, (record) => void log.publish(next, [record]));
      await between.ready();
      await log.publish(topic, numbered('k', 1, 20));
      await eventually(() => end.records.length >= 20);
      expect(end.valuesOf('k')).toEqual(numbers(1, 20));
    });

    it('is not affected when the publisher modifies a record after publishing it', async () => {
      const { records } = await read();
      const record = { key: 'k', value: 'before', headers: { header: 'before' } };
      await log.publish(topic, [record]);
      record.value = 'after';
      record.headers.header = 'after';
      await eventually(() => records.length === 1);
      expect(records).toEqual([{ key: 'k', value: 'before', headers: { header: 'before' } }]);
    });

    it('reads a topic that is created later from its first record', async () => {
      const later = `${'later-'.repeat(30)}${randomUUID()}`;
      const reader = await read(later);
      await log.ensureTopic(later, { partitions: 3 });
      await log.publish(later, [...numbered('a', 1, 10), ...numbered('b', 1, 10)]);
      await eventually(() => reader.records.length >= 20);
      expect([reader.valuesOf('a'), reader.valuesOf('b')]).toEqual([numbers(1, 10), numbers(1, 10)]);
    });

    it('accepts and delivers nothing after it is closed', async () => {
      const closing = create();
      const seen: LogRecord[] = [];
      const reader = closing.read(topic, (record) => seen.push(record));
      await reader.ready();
      expect(await closing.isUp(topic)).toBe(true);
      await closing.close();
      expect(await closing.isUp(topic)).toBe(false);
      await expect(closing.publish(topic, numbered('k', 1, 1))).rejects.toThrow('closed');
      await expect(closing.ensureTopic(topic, { partitions: 4 })).rejects.toThrow('closed');
      const witness = await read();
      await log.publish(topic, numbered('k', 1, 1));
      await eventually(() => witness.records.length === 1);
      expect(seen).toEqual([]);
      await reader.stop();
      await closing.close();
    });
  });
}
