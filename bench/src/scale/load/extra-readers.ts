import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import { createKafkaEventLog } from '@taskmesh/messaging';
import { createLog } from '@taskmesh/service';

/** Reads the topic as gateways do, so many times, and does nothing with it. */
export async function openExtraReaders(broker: string, count: number): Promise<{ close(): Promise<void> }> {
  const log = createLog({ service: 'load', level: 'warn' });
  const eventLog = createKafkaEventLog({ brokers: [broker], clientId: 'bench-readers', log });
  const readers = Array.from({ length: count }, () => eventLog.read(TASK_CHANGES_TOPIC, () => undefined));
  await Promise.all(readers.map((reader) => reader.ready()));
  return { close: () => eventLog.close() };
}
