import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import { isRefusedForGood, type EventLog, type LogRecord } from '@taskmesh/messaging';
import { toTaskChanged, type ChangeRow } from '../feed/change.ts';
import type { Cursors } from '../feed/cursors.ts';

/** A change as the relay reads it: with the store's epoch. */
export type ReadChange = ChangeRow & { epoch: number };

/** Brokers take about a megabyte at once. */
const MAX_BYTES = 512 * 1024;
const MAX_RECORDS = 500;
/** So many refused in a row, and it is the log that is away. */
const SIGNS_OF_ABSENCE = 3;

export interface Outcome {
  /** Taken by the log. */
  published: string[];
  /** Refused while the log took others, or for good: it is the record that is wrong. */
  refused: Refusal[];
  /** Why not everything was published. */
  failure?: unknown;
}

export interface Refusal {
  id: string;
  reason: unknown;
}

interface Prepared {
  id: string;
  ownerId: string;
  record: LogRecord;
}

export type Publisher = ReturnType<typeof createPublisher>;

export function createPublisher(eventLog: Pick<EventLog, 'publish'>, cursors: Cursors) {
  const toRecord = async (change: ReadChange): Promise<LogRecord> => {
    const { epoch, owner_id: ownerId, traceparent } = change;
    const cursor = await cursors.seal(ownerId, { epoch, sequence: Number(change.sequence) });
    return {
      key: ownerId,
      value: JSON.stringify(toTaskChanged(change, epoch, cursor)),
      ...(traceparent !== null && { headers: { traceparent } }),
    };
  };

  /** What cannot even be written down is refused here, and holds back what its owner did after it. */
  const prepare = async (changes: ReadChange[]) => {
    const prepared: Prepared[] = [];
    const refused: Refusal[] = [];
    const heldBack = new Set<string>();
    for (const change of changes) {
      if (heldBack.has(change.owner_id)) continue;
      try {
        prepared.push({ id: change.id, ownerId: change.owner_id, record: await toRecord(change) });
      } catch (reason) {
        refused.push({ id: change.id, reason });
        heldBack.add(change.owner_id);
      }
    }
    return { prepared, refused };
  };

  return {
    /** In the given order, many at a time. Ends at the first failure: the log may have taken some of that. */
    async publish(changes: ReadChange[], maySend: () => boolean): Promise<Outcome> {
      const { prepared, refused } = await prepare(changes);
      const published: string[] = [];
      for (const chunk of chunksOf(prepared)) {
        if (!maySend()) return { published, refused };
        try {
          await eventLog.publish(
            TASK_CHANGES_TOPIC,
            chunk.map(({ record }) => record),
          );
        } catch (failure) {
          return { published, refused, failure };
        }
        published.push(...chunk.map(({ id }) => id));
      }
      return { published, refused };
    },

    /**
     * One by one, to find the records that the log will not take: a refusal counts only when another record went
     * through, or when the log says that it is for good. A refused one holds back what its owner did after it. `turn` varies who comes first.
     */
    async publishSingly(changes: ReadChange[], maySend: () => boolean, turn: number): Promise<Outcome> {
      const { prepared, refused: unwritable } = await prepare(changes);
      const owners = Map.groupBy(prepared, ({ ownerId }) => ownerId);
      const published: string[] = [];
      const refused: Refusal[] = [];
      for (const records of rotated([...owners.values()], turn)) {
        for (const { id, record } of records) {
          if (!maySend()) return { published, refused: unwritable };
          try {
            await eventLog.publish(TASK_CHANGES_TOPIC, [record]);
            published.push(id);
          } catch (reason) {
            refused.push({ id, reason });
            if (published.length === 0 && refused.filter(isPassing).length >= SIGNS_OF_ABSENCE)
              return { published, refused: [...unwritable, ...refused.filter(isFinal)], failure: reason };
            break;
          }
        }
      }
      const proven = published.length > 0 ? refused : refused.filter(isFinal);
      return { published, refused: [...unwritable, ...proven], failure: refused[0]?.reason };
    },
  };
}

const isFinal = ({ reason }: Refusal) => isRefusedForGood(reason);
const isPassing = (refusal: Refusal) => !isFinal(refusal);

function chunksOf(prepared: Prepared[]): Prepared[][] {
  const chunks: Prepared[][] = [];
  let bytes = Infinity;
  for (const item of prepared) {
    const size = Buffer.byteLength(item.record.value);
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

function rotated<Item>(items: Item[], by: number): Item[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
