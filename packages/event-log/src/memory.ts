import { deliver, type EventLog, type Logger, type LogRecord } from './event-log.ts';
import { createSlowSteps } from './slow-steps.ts';

interface MemoryReader {
  onRecord: (record: LogRecord) => void;
  waiting: LogRecord[];
  isDelivering: boolean;
}

/** An event log within a single process: delivers records to the current readers and stores nothing. */
export function createMemoryEventLog({ log }: { log?: Logger } = {}): EventLog {
  const readersByTopic = new Map<string, Set<MemoryReader>>();
  let closed = false;

  const readersOf = (topic: string) => {
    const readers = readersByTopic.get(topic) ?? new Set();
    readersByTopic.set(topic, readers);
    return readers;
  };

  return {
    async ensureTopic() {
      if (closed) throw new Error('The event log is closed.');
    },

    async publish(topic, records) {
      if (closed) throw new Error('The event log is closed.');
      for (const reader of readersOf(topic)) {
        // One delivery per turn of the event loop passes on all waiting records, so that a burst costs one wake-up.
        if (!reader.isDelivering) setImmediate(() => void deliverWaiting(reader, log));
        reader.isDelivering = true;
        for (const { key, value, headers } of records) reader.waiting.push({ key, value, headers: { ...headers } });
      }
    },

    read(topic, onRecord) {
      const reader: MemoryReader = { onRecord, waiting: [], isDelivering: false };
      const readers = readersOf(topic);
      if (!closed) readers.add(reader);
      return {
        ready: async () => undefined,
        async stop() {
          readers.delete(reader);
          reader.onRecord = () => undefined;
        },
      };
    },

    isUp: async () => !closed,

    async close() {
      closed = true;
      for (const readers of readersByTopic.values()) {
        for (const reader of readers) reader.onRecord = () => undefined;
      }
      readersByTopic.clear();
    },
  };
}

async function deliverWaiting(reader: MemoryReader, log: Logger | undefined): Promise<void> {
  const steps = createSlowSteps();
  while (reader.waiting.length > 0) {
    for (const record of reader.waiting.splice(0))
      await steps.run(() => deliver(record, (taken) => reader.onRecord(taken), log));
  }
  reader.isDelivering = false;
}
