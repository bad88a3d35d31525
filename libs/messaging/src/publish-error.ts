import type { LogRecord } from './event-log.ts';

/** Why not everything was published. */
export class PublishError extends Error {
  /** By record, why it was not taken, or may not have been. Every other record was taken. */
  readonly reasons: ReadonlyMap<LogRecord, unknown>;

  constructor(reasons: ReadonlyMap<LogRecord, unknown>) {
    super('The event log did not confirm the records.', { cause: reasons.values().next().value });
    this.name = 'PublishError';
    this.reasons = reasons;
  }
}
