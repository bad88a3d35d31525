import { PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import type { Registry } from 'prom-client';
import { createLatencyHistogram, createMeters } from '../metrics.ts';
import { errorTypeOf, NO_TRACING, type Span, type SpanDescription, type Tracing } from '../telemetry/tracing.ts';

const LABELS = ['messaging_system', 'messaging_operation_name', 'messaging_destination_name', 'error_type'] as const;

/** Counts published and consumed records and measures publishing, with OpenTelemetry's metric names. One log per registry. */
export function measureEventLog(eventLog: EventLog, registry: Registry): EventLog {
  const { counter } = createMeters(registry);
  const duration = createLatencyHistogram(
    registry,
    'messaging_client_operation_duration_seconds',
    'Time to publish a batch of records, whether it succeeded or not',
    ...LABELS,
  );
  const sent = counter(
    'messaging_client_sent_messages_total',
    'Records that were published, or with an error_type were not, or may not have been',
    ...LABELS,
  );
  const consumed = counter('messaging_client_consumed_messages_total', 'Records that were read', ...LABELS);
  const labelsOf = (operation: 'send' | 'poll', topic: string) => ({
    messaging_system: eventLog.system ?? 'memory',
    messaging_operation_name: operation,
    messaging_destination_name: topic,
  });

  return {
    ...eventLog,
    async publish(topic, records) {
      const labels = labelsOf('send', topic);
      const begunMs = performance.now();
      const seconds = () => (performance.now() - begunMs) / 1_000;
      try {
        await eventLog.publish(topic, records);
        duration.observe(labels, seconds());
        sent.inc(labels, records.length);
      } catch (error) {
        const reasons = error instanceof PublishError ? error.reasons : new Map(records.map((each) => [each, error]));
        const error_type = errorTypeOf(error instanceof PublishError ? error.cause : error);
        duration.observe({ ...labels, error_type }, seconds());
        for (const reason of reasons.values()) sent.inc({ ...labels, error_type: errorTypeOf(reason) });
        sent.inc(labels, records.length - reasons.size);
        throw error;
      }
    },
    read(topic, onRecord) {
      const labels = labelsOf('poll', topic);
      consumed.inc(labels, 0);
      return eventLog.read(topic, (record) => {
        consumed.inc(labels);
        onRecord(record);
      });
    },
  };
}

/** Each record of a recorded trace gets a span of its own in that trace: few tools show span links. */
export function traceEventLog(eventLog: EventLog, tracing: Tracing): EventLog {
  if (tracing === NO_TRACING) return eventLog;
  const publish = async (topic: string, records: LogRecord[]) => {
    const spans = new Map<LogRecord, Span>();
    const sent = records.map((record) => {
      const span = tracing.continueTrace(record.headers?.['traceparent'], () =>
        publishSpan(eventLog, topic, records.length),
      );
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
      const plain = new Map(sent.map((record, index) => [record, records[index] ?? record]));
      throw new PublishError(new Map([...reasons].map(([record, reason]) => [plain.get(record) ?? record, reason])));
    }
  };
  return { ...eventLog, publish };
}

function publishSpan(eventLog: EventLog, topic: string, count: number): SpanDescription {
  const { attributes, ...span } = spanOf('send', eventLog, topic);
  return { ...span, kind: 'producer', attributes: { ...attributes, 'messaging.batch.message_count': count } };
}

export function processSpan(eventLog: Pick<EventLog, 'system'>, topic: string): SpanDescription {
  return { ...spanOf('process', eventLog, topic), kind: 'consumer' };
}

function spanOf(operation: 'send' | 'process', { system }: Pick<EventLog, 'system'>, topic: string) {
  return {
    name: `${operation} ${topic}`,
    attributes: {
      'messaging.system': system ?? 'memory',
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': topic,
    },
  };
}
