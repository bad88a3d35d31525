import { createMemoryEventLog, PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import type { Span } from '../telemetry/span.ts';
import { NO_TRACING, type Tracing } from '../telemetry/tracing.ts';
import { traceEventLog } from './traced.ts';

function fakeTracing() {
  const ended: [name: string, failure: unknown][] = [];
  let count = 0;
  const goOn: Tracing['goOn'] = (traceparent, describe) => {
    if (traceparent !== 'recorded') return undefined;
    const name = `p${++count}`;
    const { name: what } = describe();
    return { traceparent: name, end: (failure) => ended.push([`${name} ${what}`, failure]) } as Partial<Span> as Span;
  };
  return { tracing: { ...NO_TRACING, goOn } satisfies Tracing, ended };
}

const record = (key: string, traceparent?: string): LogRecord => ({
  key,
  value: 'x',
  ...(traceparent && { headers: { traceparent } }),
});

function fixture(publish: EventLog['publish'] = async () => undefined) {
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

describe('an event log with traces', () => {
  it('is the log itself when nothing is traced', () => {
    const inner = createMemoryEventLog();
    expect(traceEventLog(inner, NO_TRACING)).toBe(inner);
  });

  it('gives each record that is recorded a span, whose place in the trace goes along', async () => {
    const { eventLog, sent, ended } = fixture();
    const records = [record('a', 'recorded'), record('b'), record('c', 'other'), record('d', 'recorded')];
    await eventLog.publish('topic', records);
    expect(sent[0]?.map(({ headers }) => headers?.['traceparent'])).toEqual(['p1', undefined, 'other', 'p2']);
    expect(ended).toEqual([
      ['p1 send topic', undefined],
      ['p2 send topic', undefined],
    ]);
    expect(records[0]?.headers).toEqual({ traceparent: 'recorded' });
  });

  it('names the records that were not taken as they were given', async () => {
    const { eventLog, ended } = fixture(async (_topic, records) => {
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

  it('fails as the log does', async () => {
    const away = new Error('away');
    const { eventLog, ended } = fixture(() => Promise.reject(away));
    await expect(eventLog.publish('topic', [record('a', 'recorded')])).rejects.toBe(away);
    expect(ended).toEqual([['p1 send topic', away]]);
  });
});
