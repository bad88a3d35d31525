import { PublishError, type EventLog, type LogRecord } from '@taskmesh/event-log';
import { createPublisher, type Failure, type ReadChange } from './publisher.ts';

const TIME = '2026-11-20 10:00:00+00';

function change(id: number, owner: string, title = 'x'): ReadChange {
  const task = {
    id: `t${id}`,
    user_id: owner,
    title,
    description: null,
    completed: false,
    due_date: null,
    category: null,
    priority: 'low',
    created_at: TIME,
    updated_at: TIME,
    version: 1,
  };
  return {
    id: String(id),
    owner_id: owner,
    sequence: String(id),
    kind: 'INSERT',
    task: JSON.stringify(task),
    previous: null,
    occurred_at: TIME,
    traceparent: null,
    part: 0,
    epoch: 1,
  };
}

function logThat(reasonAgainst: (id: string) => Error | undefined) {
  const batches: string[][] = [];
  const eventLog: Pick<EventLog, 'publish'> = {
    async publish(_topic: string, records: LogRecord[]) {
      const reasons = new Map<LogRecord, Error>();
      const taken: string[] = [];
      for (const record of records) {
        const { id } = JSON.parse(record.value);
        const reason = reasonAgainst(id);
        if (reason) reasons.set(record, reason);
        else taken.push(id);
      }
      batches.push(taken);
      if (reasons.size > 0) throw new PublishError(reasons);
    },
  };
  const cursors = { seal: async () => 'cursor' };
  return { batches, publisher: createPublisher(eventLog, cursors) };
}

const always = () => true;
const idsOf = (changes: ReadChange[]) => changes.map(({ id }) => id);
const failuresOf = (failures: Failure[]) => failures.map(({ change: { id } }) => id);

describe('publishing', () => {
  it('sends nothing more once it may not', async () => {
    const { batches, publisher } = logThat(() => undefined);
    let asked = 0;
    const { published } = await publisher.publish(
      Array.from({ length: 1_200 }, (_, n) => change(n, 'o')),
      () => ++asked < 2,
    );
    expect([published.length, batches.length]).toEqual([500, 1]);
  });

  it('refuses what cannot be written down, holds back what its owner did after it, and sends the rest', async () => {
    const { batches, publisher } = logThat(() => undefined);
    const broken = { ...change(1, 'a'), task: '{' };
    const outcome = await publisher.publish([change(0, 'a'), broken, change(2, 'b'), change(3, 'a')], always);
    expect(batches).toEqual([['0', '2']]);
    expect([idsOf(outcome.published), failuresOf(outcome.refused)]).toEqual([['0', '2'], ['1']]);
  });
});
