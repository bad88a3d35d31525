/** A record to append. Records with one key keep their order. */
export interface LogRecord {
  key: string;
  value: string;
  headers?: Record<string, string>;
  /**
   * Where it goes, whatever its key says; for what is to be told on every partition. Then nothing is promised about its
   * place among records of that key elsewhere. Never set on records that are read.
   */
  partition?: number;
}

/**
 * A durable, ordered log of records by topic: Kafka, or memory in one process.
 *
 * What every adapter promises: records of one key are read in the order in which they were published; `publish` resolves
 * only when the log has taken them all; a reader that is behind, cut off or restarted goes on where it was for as long as
 * the process lives, and when the topic is made anew reads the new one from its first record. When the log lost records at
 * one of its ends, and with them a reader's place, the reader goes on at that end.
 *
 * A reader may see a record again: after a publisher that got no answer and sent once more. The repetition can come behind
 * newer records of its key, so a reader drops by a number in the record what it has seen.
 * What is not promised: that a reader sees what was published before it began; an order between records of different keys;
 * the order of one key while somebody changes how many partitions the topic has.
 */
export interface EventLog {
  /** As OpenTelemetry names it. @default 'memory' */
  readonly system?: 'kafka';
  /**
   * Makes the topic if it is not there (one that is there stays as it is) and resolves when it can be published to.
   * Rejects when the log cannot be reached.
   */
  ensureTopic(topic: string, options: { partitions: number }): Promise<void>;
  /**
   * Appends in the given order. Rejects when any of it was not taken, or may not have been: with a `PublishError` that names
   * those records, which the caller sends again, or with any other error, which is about all of them. Behind such a record
   * nothing of its key is taken, in this call or in those that waited meanwhile, so that nothing overtakes.
   */
  publish(topic: string, records: LogRecord[]): Promise<void>;
  /**
   * Reads every partition from now on (no group: each reader sees everything). Never rejects for a log that is away: it
   * keeps trying. `onRecord` is called record by record, in order per key, with `headers` always there; it must not throw
   * (when it does, that is logged, and the next record follows).
   */
  read(topic: string, onRecord: (record: LogRecord) => void): LogReader;
  /** Ends every reader and publisher of this log. What is being published is cut off. */
  close(): Promise<void>;
}

export interface LogReader {
  /**
   * Resolves when the reader first stands at the end of every partition: what is published after that is seen. For a topic
   * that is not there yet that is so at once.
   */
  ready(): Promise<void>;
  /** After this no record is delivered any more. */
  stop(): Promise<void>;
}
