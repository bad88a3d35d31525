export {
  isRefusedForGood,
  PublishError,
  type EventLog,
  type Logger,
  type LogReader,
  type LogRecord,
} from './event-log.ts';
export { createBlockedKeys, type BlockedKey, type BlockedKeysOptions } from './blocked-keys.ts';
export * from './kafka.ts';
export { createMemoryEventLog } from './memory.ts';
export * from './ordered-publisher.ts';
export { createSlowSteps } from './slow-steps.ts';
