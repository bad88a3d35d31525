import { createMemoryEventLog, PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { measureEventLog } from './measured.ts';

const SENT = 'messaging_client_sent_messages_total';
const CONSUMED = 'messaging_client_consumed_messages_total';
const DURATION = 'messaging_client_operation_duration_seconds_count';
const labels = (operation: string, error?: string) =>
  `{messaging_system="memory",messaging_operation_name="${operation}",messaging_destination_name="topic"${error ? `,error_type="${error}"` : ''}}`;

const record = (key: string): LogRecord => ({ key, value: 'x' });

function fixture(publish?: EventLog['publish']) {
  const registry = new Registry();
  const eventLog = measureEventLog({ ...createMemoryEventLog(), ...(publish && { publish }) }, registry);
  const figures = async () =>
    Object.fromEntries(
      (await registry.metrics())
        .split('\n')
        .filter((line) => /(_total|_count){/.test(line))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  return { eventLog, figures };
}

const brokerError = (type: string) => Object.assign(new Error('said by a broker'), { type, code: 5 });

describe('an event log that is measured', () => {
  it('counts what is published and read, and times what is published at once', async () => {
    const { eventLog, figures } = fixture();
    const read: LogRecord[] = [];
    eventLog.read('topic', (each) => read.push(each));
    expect(await figures()).toEqual({ [`${CONSUMED}${labels('poll')}`]: 0 });
    await eventLog.publish('topic', [record('a'), record('b')]);
    await eventLog.publish('topic', [record('c')]);
    await eventually(() => expect(read).toHaveLength(3));
    expect(await figures()).toEqual({
      [`${SENT}${labels('send')}`]: 3,
      [`${DURATION}${labels('send')}`]: 2,
      [`${CONSUMED}${labels('poll')}`]: 3,
    });
  });

  it('tells apart the records that were not taken, by why', async () => {
    const records = ['a', 'b', 'c', 'd'].map(record);
    const [, b, c] = records;
    const { eventLog, figures } = fixture(async () => {
      if (b && c) throw new PublishError(new Map([b, c].map((each) => [each, brokerError(`NO_${each.key}`)])));
    });
    await expect(eventLog.publish('topic', records)).rejects.toThrow(PublishError);
    expect(await figures()).toEqual({
      [`${SENT}${labels('send')}`]: 2,
      [`${SENT}${labels('send', 'NO_b')}`]: 1,
      [`${SENT}${labels('send', 'NO_c')}`]: 1,
      [`${DURATION}${labels('send', 'NO_b')}`]: 1,
    });
  });

  it('fails as the log does, for all records', async () => {
    const away = new TypeError('away, says host.example');
    const { eventLog, figures } = fixture(() => Promise.reject(away));
    await expect(eventLog.publish('topic', [record('a'), record('b')])).rejects.toBe(away);
    expect(await figures()).toEqual({
      [`${SENT}${labels('send')}`]: 0,
      [`${SENT}${labels('send', 'TypeError')}`]: 2,
      [`${DURATION}${labels('send', 'TypeError')}`]: 1,
    });
  });
});
