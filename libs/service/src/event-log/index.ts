import { createKafkaEventLog, createMemoryEventLog, type EventLog } from '@taskmesh/event-log';
import type { Registry } from 'prom-client';
import type { Log } from '../log.ts';
import type { KafkaSettings } from './kafka.ts';
import { measureEventLog } from './observed.ts';

export { readKafkaSettings, requireKafkaSettings, findKafkaProblem, type KafkaSettings } from './kafka.ts';
export { processSpan, traceEventLog } from './observed.ts';

/** Opens the process's event log, with metrics. Without Kafka, the log lives in memory. The caller closes it. */
export function openEventLog(
  kafka: KafkaSettings | undefined,
  { clientId, log, metrics }: { clientId: string; log: Log; metrics: Registry },
): EventLog {
  return measureEventLog(
    kafka ? createKafkaEventLog({ ...kafka, clientId, log }) : createMemoryEventLog({ log }),
    metrics,
  );
}
