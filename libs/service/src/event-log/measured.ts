import { PublishError, type EventLog } from '@taskmesh/event-log';
import { Counter, type Registry } from 'prom-client';
import { createLatencyHistogram, type Observe } from '../latency-histogram.ts';
import { errorTypeOf } from '../telemetry/error-type.ts';

type Label = 'messaging_system' | 'messaging_operation_name' | 'messaging_destination_name' | 'error_type';

/** Counts sent and read records and times sending, under OpenTelemetry's names. One log per registry. */
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
    collect() {
      for (const [topic, sending] of sendings) {
        this.inc(labelsOf('send', topic), sending.records);
        sending.records = 0;
      }
    },
  });
  /** By topic, the records sent that are not in the counter yet. */
  const sendings = new Map<string, { observe: Observe; records: number }>();
  const sendingTo = (topic: string) => {
    const known = sendings.get(topic);
    if (known) return known;
    const fresh = { observe: duration.observer(labelsOf('send', topic)), records: 0 };
    sendings.set(topic, fresh);
    return fresh;
  };
  /** By topic. A labelled counter costs a microsecond for each change of each user; a plain number costs nothing. */
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
      const begunMs = performance.now();
      const seconds = () => (performance.now() - begunMs) / 1_000;
      try {
        await eventLog.publish(topic, records);
        const sending = sendingTo(topic);
        sending.observe(seconds());
        sending.records += records.length;
      } catch (error) {
        const labels = labelsOf('send', topic);
        const reasons = error instanceof PublishError ? error.reasons : new Map(records.map((each) => [each, error]));
        const error_type = errorTypeOf(error instanceof PublishError ? error.cause : error);
        duration.observer({ ...labels, error_type })(seconds());
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
    isUp: (topic) => eventLog.isUp(topic),
    close: () => eventLog.close(),
  };
}
