export {
  isRefusedForGood,
  PublishError,
  type EventLog,
  type Logger,
  type LogReader,
  type LogRecord,
} from './event-log.ts';
export * from './kafka.ts';
export { createMemoryEventLog } from './memory.ts';
