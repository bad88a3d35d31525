import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { isRefusedForGood, PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toTaskChanged, type ChangeRow } from '../feed/change.ts';
import type { Cursors } from '../feed/cursors.ts';

/** `is_cut`: more changes may follow than were read. */
export type ReadChange = ChangeRow & { part: number; epoch: number; is_cut?: boolean };

/** Brokers accept about a megabyte per request. */
const MAX_BYTES = 512 * 1024;
const MAX_RECORDS = 500;
/** The size of a record besides the two images; most of it is the cursor. */
const REST_BYTES = 512;

/** Changes in none of these lists were not tried: they wait behind a failed one, or sending has ended. */
export interface Outcome {
  published: ReadChange[];
  /** Changes that the log will never accept, because of their content. */
  refused: Failure[];
  /** The first change of each owner that the log did not accept, or possibly did not accept. */
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

  /** Returns why records were not accepted. Only a reason that the log gives for a single record can concern its content. */
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
     * Publishes changes in the given order, in batches. A change that is not accepted holds back only later ones of its owner.
     * Stops early once a whole batch is not accepted.
     */
    async publish(changes: ReadChange[], maySend: () => boolean): Promise<Outcome> {
      const published: ReadChange[] = [];
      const refused: Failure[] = [];
      const failed: Failure[] = [];
      const heldBack = new Set<string>();
      for (const [index, chunk] of chunksOf(changes).entries()) {
        if (index > 0) await nextTurn(); // so that a backlog does not hold up other work
        const free: Prepared[] = [];
        for (const each of await Promise.all(chunk.map(prepare))) {
          if (heldBack.has(each.change.owner_id)) continue;
          if ('record' in each) free.push(each);
          else {
            refused.push(each);
            heldBack.add(each.change.owner_id);
          }
        }
        if (!maySend()) break;
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

function chunksOf(changes: ReadChange[]): ReadChange[][] {
  const chunks: ReadChange[][] = [];
  let bytes = Infinity;
  for (const change of changes) {
    const size = Buffer.byteLength(change.task) + Buffer.byteLength(change.previous ?? '') + REST_BYTES;
    const last = chunks.at(-1);
    if (!last || bytes + size > MAX_BYTES || last.length === MAX_RECORDS) {
      chunks.push([change]);
      bytes = size;
    } else {
      last.push(change);
      bytes += size;
    }
  }
  return chunks;
}
