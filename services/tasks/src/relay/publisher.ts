import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createOrderedPublisher, type EventLog } from '@taskmesh/event-log';
import { toTaskChanged } from '../feed/change.ts';
import type { Cursors } from '../feed/cursors.ts';
import type { ReadChange } from './relay.repository.ts';

/** The size of a record besides the two images; most of it is the cursor. */
const REST_BYTES = 512;

export const createPublisher = (eventLog: Pick<EventLog, 'publish'>, cursors: Pick<Cursors, 'seal'>) =>
  createOrderedPublisher<ReadChange>({
    eventLog,
    topic: TASK_CHANGES_TOPIC,
    keyOf: ({ owner_id }) => owner_id,
    sizeOf: ({ task, previous }) => Buffer.byteLength(task) + Buffer.byteLength(previous ?? '') + REST_BYTES,
    async prepare(change) {
      const { epoch, owner_id: key, traceparent } = change;
      const cursor = await cursors.seal(key, { epoch, sequence: Number(change.sequence) });
      try {
        const value = JSON.stringify(toTaskChanged(change, epoch, cursor));
        return { key, value, ...(traceparent !== null && { headers: { traceparent } }) };
      } catch (refused) {
        return { refused };
      }
    },
  });
