export { measureEventLog } from './measured.ts';
export { readKafkaSettings, type KafkaSettings } from './settings.ts';
export { processSpan, traceEventLog } from './traced.ts';
export { whyKafkaFails } from './why-kafka-fails.ts';
