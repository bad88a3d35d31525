/** Where a log says what it cannot report otherwise. pino's loggers fit. `err` is an error. */
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
 * A durable, ordered log of records by topic: Kafka, or memory in a single process.
 *
 * Every adapter promises: records of one key are read in the order of publication; `publish` resolves only when the log
 * has taken all of them; a reader that lags, is disconnected or reconnects resumes where it was for as long as the
 * process lives, and reads a recreated topic from its first record. When the log has lost records at one of its ends,
 * and a reader's position with them, the reader resumes at that end.
 *
 * A reader may see a record twice, when a publisher got no answer and sent it again. The repetition can follow newer
 * records of its key, so readers detect it by a number in the record. Not promised: that a reader sees what was
 * published before it started; an order between records of different keys; the order of one key while the topic's
 * number of partitions changes.
 */
export interface EventLog {
  /** OpenTelemetry's name of the system. @default 'memory' */
  readonly system?: 'kafka';
  /**
   * Creates the topic unless it exists (an existing one is not changed); resolves when it can be published to. Rejects
   * when the log is unreachable, and at once when `signal` is aborted.
   */
  ensureTopic(topic: string, options: { partitions: number; signal?: AbortSignal }): Promise<void>;
  /**
   * Appends in the given order. Rejects when any record was not taken, or may not have been: with a `PublishError` that
   * names those records, which the caller sends again, or with any other error, which concerns all of them. After such
   * a record nothing of its key is taken, in this call or in those already queued, so that no record overtakes another.
   */
  publish(topic: string, records: LogRecord[]): Promise<void>;
  /**
   * Reads every partition from now on, without a consumer group: each reader sees everything. Keeps retrying while the
   * log is unavailable and never rejects for that. `onRecord` is called for each record, in order per key, always with
   * `headers`. It must not throw (an exception is logged, and the next record follows).
   */
  read(topic: string, onRecord: (record: LogRecord) => void): LogReader;
  /** Whether the whole topic can be published to and read right now; answers within a few seconds, and never rejects. */
  isUp(topic: string): Promise<boolean>;
  /** Ends every reader and publisher of this log and aborts what is being published. */
  close(): Promise<void>;
}

export interface LogReader {
  /**
   * Resolves when the reader first stands at the end of every partition: everything published later is seen. Resolves
   * at once for a topic that does not exist yet.
   */
  ready(): Promise<void>;
  /** No record is delivered afterwards. */
  stop(): Promise<void>;
}

export class PublishError extends Error {
  /** By record, why it was not taken, or may not have been. All other records were taken. */
  readonly reasons: ReadonlyMap<LogRecord, unknown>;

  constructor(reasons: ReadonlyMap<LogRecord, unknown>) {
    super('The event log did not confirm the records.', { cause: reasons.values().next().value });
    this.name = 'PublishError';
    this.reasons = reasons;
  }
}

/** A broker's error types for records that it will never take. */
const FINAL_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the record itself is the reason why it was not taken. All other reasons (no leader, no answer, too few
 * replicas, no permission) concern the log and may pass. `PublishError` gives such a reason only to the very record.
 */
export function isRefusedForGood(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('type' in each && FINAL_TYPES.has(String(each.type))) return true;
  return false;
}

/** Passes a record to a reader; an exception there must not hold up the following records. */
export function deliver(record: LogRecord, onRecord: (record: LogRecord) => void, log: Logger | undefined): void {
  try {
    onRecord(record);
  } catch (error) {
    log?.error({ err: error }, 'a reader of the event log failed on a record');
  }
}
