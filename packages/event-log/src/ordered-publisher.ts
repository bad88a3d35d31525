import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRefusedForGood, PublishError, type EventLog, type LogRecord } from './event-log.ts';

/** Brokers accept about a megabyte per request. */
const MAX_BYTES = 512 * 1024;
const MAX_RECORDS = 500;

export interface OrderedPublisherOptions<Item> {
  eventLog: Pick<EventLog, 'publish'>;
  topic: string;
  /** The key of an item's record. */
  keyOf: (item: Item) => string;
  /** About how many bytes an item's record has. */
  sizeOf: (item: Item) => number;
  /**
   * Makes an item's record. An item that has none for good is refused: resolve with the reason. If it rejects, `publish` does,
   * too, and earlier batches have been sent.
   */
  prepare: (item: Item) => Promise<LogRecord | { refused: unknown }>;
}

/** Items in none of these lists were not tried: they wait behind a failed one, or sending has ended. */
export interface PublishOutcome<Item> {
  published: Item[];
  /** Items that the log will never accept, because of their content. */
  refused: FailedItem<Item>[];
  /** The first item of each key that the log did not accept, or possibly did not accept. */
  failed: FailedItem<Item>[];
}

export interface FailedItem<Item> {
  item: Item;
  reason: unknown;
}

interface Prepared<Item> {
  item: Item;
  record: LogRecord;
}

export function createOrderedPublisher<Item>(options: OrderedPublisherOptions<Item>) {
  const { eventLog, topic, keyOf, sizeOf, prepare } = options;

  const prepareItem = async (item: Item): Promise<Prepared<Item> | FailedItem<Item>> => {
    const record = await prepare(item);
    return 'refused' in record ? { item, reason: record.refused } : { item, record };
  };

  /** Returns why records were not accepted. Only a reason that the log gives for a single record can concern its content. */
  const send = async (
    records: LogRecord[],
  ): Promise<{ reasons: ReadonlyMap<LogRecord, unknown>; isNamed: boolean }> => {
    try {
      if (records.length > 0) await eventLog.publish(topic, records);
      return { reasons: new Map(), isNamed: true };
    } catch (error) {
      if (error instanceof PublishError) return { reasons: error.reasons, isNamed: true };
      return { reasons: new Map(records.map((record) => [record, error])), isNamed: false };
    }
  };

  return {
    /**
     * Publishes items in the given order, in batches of at most 500 records and 512 KiB. An item that is not accepted holds
     * back only later ones of its key. Stops early once a whole batch is not accepted, or `maySend`, which is called before
     * each batch, returns false.
     */
    async publish(items: Item[], maySend: () => boolean = () => true): Promise<PublishOutcome<Item>> {
      const published: Item[] = [];
      const refused: FailedItem<Item>[] = [];
      const failed: FailedItem<Item>[] = [];
      const heldBack = new Set<string>();
      for (const [index, chunk] of chunksOf(items, sizeOf).entries()) {
        if (index > 0) await nextTurn(); // so that a backlog does not hold up other work
        const free: Prepared<Item>[] = [];
        for (const each of await Promise.all(chunk.map(prepareItem))) {
          const key = keyOf(each.item);
          if (heldBack.has(key)) continue;
          if ('record' in each) free.push(each);
          else {
            refused.push(each);
            heldBack.add(key);
          }
        }
        if (!maySend()) break;
        const { reasons, isNamed } = await send(free.map(({ record }) => record));
        for (const { item, record } of free) {
          const key = keyOf(item);
          if (!reasons.has(record)) published.push(item);
          else if (!heldBack.has(key)) {
            const reason = reasons.get(record);
            (isNamed && isRefusedForGood(reason) ? refused : failed).push({ item, reason });
            heldBack.add(key);
          }
        }
        if (free.length > 0 && reasons.size === free.length) break;
      }
      return { published, refused, failed };
    },
  };
}

function chunksOf<Item>(items: Item[], sizeOf: (item: Item) => number): Item[][] {
  const chunks: Item[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    const size = sizeOf(item);
    const last = chunks.at(-1);
    if (!last || bytes + size > MAX_BYTES || last.length === MAX_RECORDS) {
      chunks.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return chunks;
}
