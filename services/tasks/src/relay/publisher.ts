import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import { isRefusedForGood, PublishError, type EventLog, type LogRecord } from '@taskmesh/messaging';
import { toTaskChanged, type ChangeRow } from '../feed/change.ts';
import type { Cursors } from '../feed/cursors.ts';

export type ReadChange = ChangeRow & { part: number; epoch: number };

/** Brokers accept about a megabyte per request. */
const MAX_BYTES = 512 * 1024;
const MAX_RECORDS = 500;

/** Changes in none of these were not tried: they wait behind a failed one, or sending has ended. */
export interface Outcome {
  published: ReadChange[];
  /** Never acceptable to the log, because of their content. */
  refused: Failure[];
  /** The first of each owner that the log did not accept, or may not have. */
  failed: Failure[];
}

export interface Failure {
  change: ReadChange;
  reason: unknown;
}

interface Prepared {
  change: ReadChange;
  record: LogRecord;
}

export function createPublisher(eventLog: Pick<EventLog, 'publish'>, cursors: Pick<Cursors, 'seal'>) {
  const prepare = async (change: ReadChange): Promise<Prepared | Failure> => {
    const { epoch, owner_id: key, traceparent } = change;
    const cursor = await cursors.seal(key, { epoch, sequence: Number(change.sequence) });
    try {
      const value = JSON.stringify(toTaskChanged(change, epoch, cursor));
      return { change, record: { key, value, ...(traceparent !== null && { headers: { traceparent } }) } };
    } catch (reason) {
      return { change, reason };
    }
  };

  /** A change that cannot be serialized is refused here, and holds back its owner's later ones. */
  const prepareAll = async (changes: ReadChange[]) => {
    const prepared: Prepared[] = [];
    const refused: Failure[] = [];
    const heldBack = new Set<string>();
    for (const each of await Promise.all(changes.map(prepare))) {
      const owner = each.change.owner_id;
      if (heldBack.has(owner)) continue;
      if ('record' in each) prepared.push(each);
      else {
        refused.push(each);
        heldBack.add(owner);
      }
    }
    return { prepared, refused };
  };

  /** Why records were not taken. Only reasons that the log gives for single records can be about their content. */
  const send = async (
    records: LogRecord[],
  ): Promise<{ reasons: ReadonlyMap<LogRecord, unknown>; isNamed: boolean }> => {
    try {
      if (records.length > 0) await eventLog.publish(TASK_CHANGES_TOPIC, records);
      return { reasons: new Map(), isNamed: true };
    } catch (error) {
      if (error instanceof PublishError) return { reasons: error.reasons, isNamed: true };
      return { reasons: new Map(records.map((record) => [record, error])), isNamed: false };
    }
  };

  return {
    /**
     * In the given order, many at a time. A change that is not taken holds back later ones of its owner only. Ends
     * early once nothing is accepted.
     */
    async publish(changes: ReadChange[], maySend: () => boolean): Promise<Outcome> {
      const { prepared, refused } = await prepareAll(changes);
      const published: ReadChange[] = [];
      const failed: Failure[] = [];
      const heldBack = new Set<string>();
      for (const chunk of chunksOf(prepared)) {
        if (!maySend()) break;
        const free = chunk.filter(({ change }) => !heldBack.has(change.owner_id));
        const { reasons, isNamed } = await send(free.map(({ record }) => record));
        for (const { change, record } of free) {
          if (!reasons.has(record)) published.push(change);
          else if (!heldBack.has(change.owner_id)) {
            const reason = reasons.get(record);
            (isNamed && isRefusedForGood(reason) ? refused : failed).push({ change, reason });
            heldBack.add(change.owner_id);
          }
        }
        if (free.length > 0 && reasons.size === free.length) break;
      }
      return { published, refused, failed };
    },
  };
}

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
