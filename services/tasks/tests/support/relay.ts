import { createMemoryEventLog, PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { followed, replayed, storedTasks } from './history.ts';
import type { TestTasks, TestUser } from './running-tasks.ts';

export const HASTE = { firstMs: 1, maxMs: 5 };

/** Creates, changes and deletes tasks at random. */
export async function writeAtRandom(users: TestUser[], writes: number, random: () => number): Promise<void> {
  const tasks: { user: TestUser; id: string }[] = [];
  const pick = <Item>(items: Item[]): Item => items[Math.floor(random() * items.length)] as Item; // the list is never empty
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let n = 0; n < writes / 8; n++) {
        const dice = random();
        if (dice < 0.4 || tasks.length === 0) {
          const user = pick(users);
          tasks.push({ user, id: (await user.create({ title: `task ${n}`, category: 'c' })).id });
        } else {
          const { user, id } = pick(tasks);
          const write =
            dice < 0.9 ? user.update(id, { completed: dice < 0.6, description: `${dice}` }) : user.remove(id);
          // Another writer may have deleted it meanwhile.
          await write.catch((error: Error) => expect(error.message).toBe('NOT_FOUND'));
        }
      }
    }),
  );
}

/** Expects that all committed changes were published in order, without gaps, and lead to the stored tasks. */
export async function expectWholeHistory(service: TestTasks, users: TestUser[]): Promise<void> {
  await service.delivered();
  const histories = followed(service.published);
  for (const { id } of users) {
    const changes = histories.get(id) ?? [];
    const { heads } = await service.tasks.internal.heads([id]);
    expect(changes.map(({ sequence }) => sequence)).toEqual(Array.from({ length: heads[id] ?? 0 }, (_, n) => n + 1));
    expect((await service.tasks.internal.changesAfter(id, 0, 1_000)).changes).toEqual(changes);
    expect(replayed(changes)).toEqual(await storedTasks(service.database, id));
  }
}

export const usersOf = (count: number, ...services: TestTasks[]) =>
  Array.from({ length: count }, (_, n) => {
    const { id } = (services[0] as TestTasks).user(`01890000-0000-7000-8000-${String(n).padStart(12, '0')}`);
    return services.map((service) => service.user(id));
  });

/** An event log whose failures a test controls. */
export function faultyLog(fault: (publish: () => Promise<void>) => Promise<void>): EventLog {
  const inner = createMemoryEventLog();
  return { ...inner, publish: (topic, records) => fault(() => inner.publish(topic, records)) };
}

/** An event log that rejects records with a reason, and later ones with the same key; accepts all others. */
export function choosyLog(reasonAgainst: (record: LogRecord) => Error | undefined): EventLog {
  const inner = createMemoryEventLog();
  return {
    ...inner,
    async publish(topic, records) {
      const reasons = new Map<LogRecord, unknown>();
      const stopped = new Set<string>();
      for (const record of records) {
        const reason = stopped.has(record.key) ? new Error('behind one that was not accepted') : reasonAgainst(record);
        if (!reason) continue;
        reasons.set(record, reason);
        stopped.add(record.key);
      }
      const taken = records.filter((record) => !reasons.has(record));
      if (taken.length > 0) await inner.publish(topic, taken);
      if (reasons.size > 0) throw new PublishError(reasons);
    },
  };
}

/** A rejection as KafkaJS reports it. */
export const refusal = (type: string) =>
  Object.assign(new Error(type.toLowerCase()), { name: 'KafkaJSProtocolError', type });
