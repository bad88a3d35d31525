import type { LogRecord } from './event-log.ts';

export class PublishError extends Error {
  /** By record, why it was not taken, or may not have been. All other records were taken. */
  readonly reasons: ReadonlyMap<LogRecord, unknown>;

  constructor(reasons: ReadonlyMap<LogRecord, unknown>) {
    super('The event log did not confirm the records.', { cause: reasons.values().next().value });
    this.name = 'PublishError';
    this.reasons = reasons;
  }
}
