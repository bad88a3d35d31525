import { createLatencyHistogram } from '@taskmesh/service';
import { errorTypeOf } from '@taskmesh/telemetry';
import { Counter, type Registry } from 'prom-client';
import type { EventLog } from './event-log.ts';
import { PublishError } from './publish-error.ts';

type Label = 'messaging_system' | 'messaging_operation_name' | 'messaging_destination_name' | 'error_type';

/** Counts what is sent and read, and times the sending, by OpenTelemetry's names. One log for each registry. */
export function measureEventLog(eventLog: EventLog, registry: Registry): EventLog {
  const registers = [registry];
  const duration = createLatencyHistogram<Label>(registry, {
    name: 'messaging_client_operation_duration_seconds',
    help: 'Time until the event log had taken what was published at once, or had not',
  });
  const sent = new Counter<Label>({
    name: 'messaging_client_sent_messages_total',
    help: 'Records that were published, or with an error_type were not, or may not have been',
    labelNames: ['messaging_system', 'messaging_operation_name', 'messaging_destination_name', 'error_type'],
    registers,
  });
  /** By topic. A gateway reads everybody's changes: a number costs nothing, a counter with labels a microsecond. */
  const read = new Map<string, { records: number }>();
  new Counter<Label>({
    name: 'messaging_client_consumed_messages_total',
    help: 'Records that were read',
    labelNames: ['messaging_system', 'messaging_operation_name', 'messaging_destination_name'],
    registers,
    collect() {
      this.reset();
      for (const [topic, { records }] of read) this.inc(labelsOf('poll', topic), records);
    },
  });
  const labelsOf = (operation: 'send' | 'poll', topic: string) => ({
    messaging_system: eventLog.system ?? 'memory',
    messaging_operation_name: operation,
    messaging_destination_name: topic,
  });

  return {
    ...(eventLog.system && { system: eventLog.system }),
    ensureTopic: (topic, options) => eventLog.ensureTopic(topic, options),
    async publish(topic, records) {
      const labels = labelsOf('send', topic);
      const begunMs = performance.now();
      const observe = (failure?: { error_type: string }) =>
        duration.observer({ ...labels, ...failure })((performance.now() - begunMs) / 1_000);
      try {
        await eventLog.publish(topic, records);
        observe();
        sent.inc(labels, records.length);
      } catch (error) {
        const reasons = error instanceof PublishError ? error.reasons : new Map(records.map((each) => [each, error]));
        observe({ error_type: errorTypeOf(error instanceof PublishError ? error.cause : error) });
        for (const reason of reasons.values()) sent.inc({ ...labels, error_type: errorTypeOf(reason) });
        sent.inc(labels, records.length - reasons.size);
        throw error;
      }
    },
    read(topic, onRecord) {
      const count = read.get(topic) ?? { records: 0 };
      read.set(topic, count);
      return eventLog.read(topic, (record) => {
        count.records++;
        onRecord(record);
      });
    },
    close: () => eventLog.close(),
  };
}
