export type { EventLog, LogReader, LogRecord } from './event-log.ts';
export { PublishError } from './publish-error.ts';
export { isRefusedForGood } from './refusal.ts';
export { createMemoryEventLog } from './memory.ts';
export { readKafkaSettings, type KafkaSettings } from './kafka/settings.ts';
export { whyKafkaFails } from './kafka/why-kafka-fails.ts';
export { createKafkaEventLog, type KafkaConfig, type KafkaEventLogOptions } from './kafka.ts';
export { measureEventLog } from './measured-event-log.ts';
export { processSpan, traceEventLog } from './traced-event-log.ts';
