export {
  isRefusedForGood,
  PublishError,
  type EventLog,
  type Logger,
  type LogReader,
  type LogRecord,
} from './event-log.ts';
export {
  createKafkaEventLog,
  kafkaFailures,
  type KafkaConfig,
  type KafkaEventLogOptions,
  type TlsFiles,
} from './kafka.ts';
export { createMemoryEventLog } from './memory.ts';
