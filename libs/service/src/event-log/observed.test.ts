import { createMemoryEventLog, PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { NO_TRACING, type Span, type Tracing } from '../telemetry/tracing.ts';
import { measureEventLog, traceEventLog } from './observed.ts';

const SENT = 'messaging_client_sent_messages_total';
const CONSUMED = 'messaging_client_consumed_messages_total';
const DURATION = 'messaging_client_operation_duration_seconds_count';
const labels = (operation: string, error?: string) =>
  `{messaging_system="memory",messaging_operation_name="${operation}",messaging_destination_name="topic"${error ? `,error_type="${error}"` : ''}}`;

const record = (key: string, traceparent?: string): LogRecord => ({
  key,
  value: 'x',
  ...(traceparent && { headers: { traceparent } }),
});

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

describe('a measured event log', () => {
  it('counts published and read records, and measures each publish call', async () => {
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

  it('distinguishes the records that were not accepted, by reason', async () => {
    const records = ['a', 'b', 'c', 'd'].map((key) => record(key));
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

  it('fails like the log, for all records', async () => {
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

function fakeTracing() {
  const ended: [name: string, failure: unknown][] = [];
  let count = 0;
  const continueTrace: Tracing['continueTrace'] = (traceparent, describe) => {
    if (traceparent !== 'recorded') return undefined;
    const name = `p${++count}`;
    const { name: what } = describe();
    return { traceparent: name, end: (failure) => ended.push([`${name} ${what}`, failure]) } as Partial<Span> as Span;
  };
  return { tracing: { ...NO_TRACING, continueTrace } satisfies Tracing, ended };
}

function traced(publish: EventLog['publish'] = async () => undefined) {
  const { tracing, ended } = fakeTracing();
  const sent: LogRecord[][] = [];
  const inner: EventLog = {
    ...createMemoryEventLog(),
    publish: (topic, records) => {
      sent.push(records);
      return publish(topic, records);
    },
  };
  return { eventLog: traceEventLog(inner, tracing), sent, ended };
}

describe('a traced event log', () => {
  it('reports the refused records as they were given', async () => {
    const { eventLog, ended } = traced(async (_topic, records) => {
      throw new PublishError(new Map(records.slice(1).map((each) => [each, `no ${each.key}`])));
    });
    const records = [record('a', 'recorded'), record('b', 'recorded'), record('c')];
    const error = await eventLog.publish('topic', records).catch((reason: unknown) => reason);
    expect((error as PublishError).reasons).toEqual(
      new Map([
        [records[1], 'no b'],
        [records[2], 'no c'],
      ]),
    );
    expect(ended).toEqual([
      ['p1 send topic', undefined],
      ['p2 send topic', 'no b'],
    ]);
  });

  it('fails like the log', async () => {
    const away = new Error('away');
    const { eventLog, ended } = traced(() => Promise.reject(away));
    await expect(eventLog.publish('topic', [record('a', 'recorded')])).rejects.toBe(away);
    expect(ended).toEqual([['p1 send topic', away]]);
  });
});
