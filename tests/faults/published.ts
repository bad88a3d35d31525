import { parseTaskChanged, TASK_CHANGES_TOPIC, type TaskChanged } from '@taskmesh/contracts';
import type { Stack } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';

export type Published = Awaited<ReturnType<typeof readPublished>>;

/** Reads everything that Kafka receives, for all owners, from now on. */
export async function readPublished({ servers }: Stack) {
  const log = createLog({ service: 'reader', level: 'silent' });
  const eventLog = createKafkaEventLog({ brokers: [servers.kafka], clientId: 'reader', log });
  /** By owner and sequence. */
  const received = new Map<string, Map<number, TaskChanged>>();
  const reader = eventLog.read(TASK_CHANGES_TOPIC, ({ key, value }) => {
    if (key === 'epoch') return;
    const change = parseTaskChanged(value);
    const ofOwner = received.get(key) ?? new Map<number, TaskChanged>();
    received.set(key, ofOwner);
    if (!ofOwner.has(change.sequence)) ofOwner.set(change.sequence, change);
  });
  await reader.ready();
  return {
    /** All changes of this owner, ordered by their first delivery. */
    of: (ownerId: string) => [...(received.get(ownerId)?.values() ?? [])],
    close: () => eventLog.close(),
  };
}
