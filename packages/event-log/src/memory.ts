import { createDelivery } from './delivery.ts';
import type { EventLog, Logger } from './event-log.ts';

/** An event log within a single process: delivers records to the current readers and stores nothing. */
export function createMemoryEventLog({ log }: { log?: Logger } = {}): EventLog {
  const readersByTopic = new Map<string, Set<ReturnType<typeof createDelivery>>>();
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
      for (const reader of readersOf(topic))
        for (const { key, value, headers } of records) reader.add({ key, value, headers: { ...headers } });
    },

    read(topic, onRecord) {
      const reader = createDelivery(onRecord, log);
      const readers = readersOf(topic);
      if (!closed) readers.add(reader);
      return {
        ready: async () => undefined,
        async stop() {
          readers.delete(reader);
          reader.stop();
        },
      };
    },

    isUp: async () => !closed,

    async close() {
      closed = true;
      for (const readers of readersByTopic.values()) for (const reader of readers) reader.stop();
      readersByTopic.clear();
    },
  };
}
