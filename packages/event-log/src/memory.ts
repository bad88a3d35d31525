import { deliver, type EventLog, type Logger, type LogRecord } from './event-log.ts';
import { createSlowSteps } from './slow-steps.ts';

/** Limits for what waits for a reader: records of a key, and the values of all. Beyond them, the oldest of a key are lost. */
const MAX_OF_KEY = 1_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

interface MemoryReader {
  onRecord: (record: LogRecord) => void;
  /** Keys take turns, so that one whose records take long does not delay the others. */
  waiting: Map<string, LogRecord[]>;
  characters: number;
  isDelivering: boolean;
}

/**
 * An event log within a single process: delivers records to the current readers and stores nothing. A reader that is far
 * behind loses the oldest records of a key.
 */
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
        for (const { key, value, headers } of records) add(reader, { key, value, headers: { ...headers } });
      }
    },

    read(topic, onRecord) {
      const reader: MemoryReader = { onRecord, waiting: new Map(), characters: 0, isDelivering: false };
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
  for (const [key, own] of reader.waiting) {
    const record = takeOldest(reader, own);
    if (reader.waiting.delete(key) && own.length > 0) reader.waiting.set(key, own); // its next turn comes last
    if (record) await steps.run(() => deliver(record, (taken) => reader.onRecord(taken), log));
  }
  reader.isDelivering = false;
}

function add(reader: MemoryReader, record: LogRecord): void {
  const own = reader.waiting.get(record.key) ?? [];
  reader.waiting.set(record.key, own);
  own.push(record);
  reader.characters += record.value.length;
  const isTooMuch = () => own.length > MAX_OF_KEY || (reader.characters > MAX_CHARACTERS && own.length > 1);
  while (isTooMuch()) takeOldest(reader, own);
}

function takeOldest(reader: MemoryReader, own: LogRecord[]): LogRecord | undefined {
  const record = own.shift();
  reader.characters -= record?.value.length ?? 0;
  return record;
}
