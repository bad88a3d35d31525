import { createMemoryEventLog, PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { NO_TRACING, type Span, type Tracing } from '../telemetry/tracing.ts';
import { traceEventLog } from './observed.ts';

const record = (key: string, traceparent = 'recorded'): LogRecord => ({ key, value: 'x', headers: { traceparent } });

function traced(publish: EventLog['publish']) {
  const ended: [name: string, failure: unknown][] = [];
  const continueTrace: Tracing['continueTrace'] = (traceparent, describe) => {
    if (traceparent !== 'recorded') return undefined;
    const name = `${describe().name} ${ended.length}`;
    return { traceparent: name, end: (failure) => ended.push([name, failure]) } as Partial<Span> as Span;
  };
  return { eventLog: traceEventLog({ ...createMemoryEventLog(), publish }, { ...NO_TRACING, continueTrace }), ended };
}

describe('a traced event log', () => {
  it('reports the refused records as they were given', async () => {
    const { eventLog, ended } = traced(async (_topic, records) => {
      throw new PublishError(new Map(records.slice(1).map((each) => [each, `no ${each.key}`])));
    });
    const records = [record('a'), record('b'), record('c', 'not')] as const;
    const error = await eventLog.publish('topic', [...records]).catch((reason: unknown) => reason);
    const reasons = new Map([1, 2].map((at) => [records[at], `no ${records[at]?.key}`]));
    expect((error as PublishError).reasons).toEqual(reasons);
    expect(ended.map(([, failure]) => failure)).toEqual([undefined, 'no b']);
  });

  it('fails like the log', async () => {
    const away = new Error('away');
    const { eventLog, ended } = traced(() => Promise.reject(away));
    await expect(eventLog.publish('topic', [record('a')])).rejects.toBe(away);
    expect(ended).toEqual([['send topic 0', away]]);
  });
});
