import { PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import type { Span, SpanDescription } from '../telemetry/span.ts';
import { NO_TRACING, type Tracing } from '../telemetry/tracing.ts';

/** Each record of a recorded trace gets its own span on that trace, without span links, which few tools show. */
export function traceEventLog(eventLog: EventLog, tracing: Tracing): EventLog {
  if (tracing === NO_TRACING) return eventLog;
  const publish = async (topic: string, records: LogRecord[]) => {
    const spans = new Map<LogRecord, Span>();
    const sent = records.map((record) => {
      const span = tracing.goOn(record.headers?.['traceparent'], () => publishSpan(eventLog, topic, records.length));
      if (!span) return record;
      const traced = { ...record, headers: { ...record.headers, traceparent: span.traceparent } };
      spans.set(traced, span);
      return traced;
    });
    if (spans.size === 0) return eventLog.publish(topic, records);
    try {
      await eventLog.publish(topic, sent);
      for (const span of spans.values()) span.end();
    } catch (error) {
      const reasons = error instanceof PublishError ? error.reasons : undefined;
      for (const [record, span] of spans) span.end(reasons ? reasons.get(record) : error);
      if (!reasons) throw error;
      const given = new Map(sent.map((record, index) => [record, records[index] ?? record]));
      throw new PublishError(new Map([...reasons].map(([record, reason]) => [given.get(record) ?? record, reason])));
    }
  };
  return {
    ...(eventLog.system && { system: eventLog.system }),
    ensureTopic: (topic, options) => eventLog.ensureTopic(topic, options),
    publish,
    read: (topic, onRecord) => eventLog.read(topic, onRecord),
    isUp: (topic) => eventLog.isUp(topic),
    close: () => eventLog.close(),
  };
}

function publishSpan({ system }: EventLog, topic: string, count: number): SpanDescription {
  return {
    name: `send ${topic}`,
    kind: 'producer',
    attributes: {
      'messaging.system': system ?? 'memory',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': topic,
      'messaging.batch.message_count': count,
    },
  };
}

export function processSpan({ system }: Pick<EventLog, 'system'>, topic: string): SpanDescription {
  return {
    name: `process ${topic}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': system ?? 'memory',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
    },
  };
}
