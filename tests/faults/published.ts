import { parseTaskChanged, TASK_CHANGES_TOPIC, type TaskChanged } from '@taskmesh/contracts';
import type { Stack } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';

export interface Published {
  /** All changes of this owner, ordered by their first delivery. */
  of(ownerId: string): TaskChanged[];
  /** The number of repeated changes. */
  timesAgain(ownerId: string): number;
  close(): Promise<void>;
}

/** Reads everything that Kafka receives, for all owners, from now on. */
export async function readPublished({ servers }: Stack): Promise<Published> {
  const log = createLog({ service: 'reader', level: 'silent' });
  const eventLog = createKafkaEventLog({ brokers: [servers.kafka], clientId: 'reader', log });
  const received = new Map<string, { bySequence: Map<number, TaskChanged>; times: number }>();
  const reader = eventLog.read(TASK_CHANGES_TOPIC, ({ key, value }) => {
    if (key === 'epoch') return;
    const change = parseTaskChanged(value);
    const ofOwner = received.get(key) ?? { bySequence: new Map<number, TaskChanged>(), times: 0 };
    received.set(key, ofOwner);
    ofOwner.times++;
    if (!ofOwner.bySequence.has(change.sequence)) ofOwner.bySequence.set(change.sequence, change);
  });
  await reader.ready();
  return {
    of: (ownerId) => [...(received.get(ownerId)?.bySequence.values() ?? [])],
    timesAgain: (ownerId) => {
      const { times = 0, bySequence } = received.get(ownerId) ?? {};
      return times - (bySequence?.size ?? 0);
    },
    close: () => eventLog.close(),
  };
}
