/** For problems that no caller learns of otherwise. Compatible with pino. The field `err` is an error. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A record to append. Records with the same key keep their order. */
export interface LogRecord {
  key: string;
  value: string;
  headers?: Record<string, string>;
}

/**
 * A durable, ordered log of records, divided into topics: Kafka, or memory within a single process.
 *
 * Every adapter guarantees: records of one key are read in the order of publication; `publish` resolves only when the log
 * has accepted all records; a reader that lags, is disconnected or reconnects resumes at its position for as long as the
 * process lives, and reads a recreated topic from its first record. If the log has lost records at one of its ends, and
 * a reader's position with them, the reader resumes at that end. Keys take turns at a reader; one that is a thousand records of
 * a key behind loses the oldest, in memory also beyond 8 MiB of all.
 *
 * A reader may see a record twice, if a publisher got no response and sent it again. The duplicate can follow newer
 * records of its key, so readers detect it by a number in the record. Not guaranteed: that a reader sees records
 * published before it started; an order between records of different keys; the order within a key while the topic's
 * number of partitions changes.
 */
export interface EventLog {
  /** The messaging system as OpenTelemetry names it. @default 'memory' */
  readonly system?: 'kafka';
  /**
   * Creates the topic unless it exists (an existing topic is not changed). In Kafka it keeps the newest GiB of each partition.
   * Resolves when the topic can be published to. Rejects when the log is unreachable, and at once when `signal` is aborted.
   */
  ensureTopic(topic: string, options: { partitions: number; signal?: AbortSignal }): Promise<void>;
  /**
   * Appends the records in order. Rejects when the log did not confirm all of them: with a `PublishError` that names the
   * unconfirmed records, which the caller sends again, or with any other error, which concerns all records. After an
   * unconfirmed record, nothing of its key is appended, in this call or in queued ones, so that no record overtakes another.
   */
  publish(topic: string, records: LogRecord[]): Promise<void>;
  /**
   * Reads every partition from now on, without a consumer group: each reader sees all records. Retries while the log is
   * unavailable. Calls `onRecord` for each record, in order per key, always with `headers`. `onRecord` must not throw (an
   * exception is logged, and the next record follows).
   */
  read(topic: string, onRecord: (record: LogRecord) => void): LogReader;
  /** Whether the whole topic can be published to and read right now. Resolves within a few seconds and never rejects. */
  isUp(topic: string): Promise<boolean>;
  /** Stops every reader and publisher of this log and aborts publishes in progress. */
  close(): Promise<void>;
}

export interface LogReader {
  /**
   * Resolves when the reader has found its position in every partition: it will see all records published later. Resolves
   * at once for a topic that does not exist yet.
   */
  ready(): Promise<void>;
  /** Ends reading; no record is delivered afterwards. */
  stop(): Promise<void>;
}

export class PublishError extends Error {
  /** The reason for each record that was not appended, or may not have been. All other records were appended. */
  readonly reasons: ReadonlyMap<LogRecord, unknown>;

  constructor(reasons: ReadonlyMap<LogRecord, unknown>) {
    super('The event log did not confirm the records.', { cause: reasons.values().next().value });
    this.name = 'PublishError';
    this.reasons = reasons;
  }
}

/** Error types with which a broker rejects a record permanently. */
const FINAL_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether a record was rejected because of its own contents. All other reasons (no leader, no response, too few replicas,
 * no permission) concern the log and may pass. `PublishError` attributes such a reason only to the record at fault.
 */
export function isRefusedForGood(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('type' in each && FINAL_TYPES.has(String(each.type))) return true;
  return false;
}
