/** A record to append. Records with one key keep their order. */
export interface LogRecord {
  key: string;
  value: string;
  headers?: Record<string, string>;
}

/**
 * A durable, ordered log of records by topic: Kafka, or memory in one process.
 *
 * What every adapter promises: records of one key are read in the order in which they were published; `publish` resolves
 * only when the log has taken them all; a reader that is behind, cut off or restarted goes on where it was for as long as
 * the process lives. A reader may see a record twice (a publisher that got no answer sends again), never out of order in
 * between. What it does not promise: that a reader sees what was published before it began.
 */
export interface EventLog {
  /** Makes the topic if it is not there. Rejects when the log cannot be reached. */
  ensureTopic(topic: string, options: { partitions: number }): Promise<void>;
  /** Appends in the given order. Rejects when any of it may not have been taken; the caller sends all of it again. */
  publish(topic: string, records: LogRecord[]): Promise<void>;
  /**
   * Reads every partition from now on (no group: each reader sees everything). Never rejects for a log that is away: it
   * keeps trying. `onRecord` is called record by record, in order per key; it must not throw.
   */
  read(topic: string, onRecord: (record: LogRecord) => void): LogReader;
  /** Ends every reader and publisher of this log. */
  close(): Promise<void>;
}

export interface LogReader {
  /** Resolves when the reader first stands at the end of every partition: what is published after that is seen. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}
