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

describe('the publisher', () => {
  it('sends changes in the given order, in batches that a broker accepts', async () => {
    const { batches, publisher } = logThat(() => undefined);
    const changes = Array.from({ length: 1_200 }, (_, n) => change(n, `o${n % 7}`));
    expect(await publisher.publish(changes, always)).toEqual({ published: changes, refused: [], failed: [] });
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200]);
    const large = Array.from({ length: 5 }, (_, n) => change(n, 'o', 'ü'.repeat(100_000)));
    batches.length = 0;
    await publisher.publish(large, always);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
  });

  it('stops sending when it is no longer allowed to', async () => {
    const { batches, publisher } = logThat(() => undefined);
    let checks = 0;
    const { published } = await publisher.publish(
      Array.from({ length: 1_200 }, (_, n) => change(n, 'o')),
      () => ++checks < 2,
    );
    expect([published.length, batches.length]).toEqual([500, 1]);
  });

  it('rejects a change that cannot be encoded, holds back later changes of its owner, and sends the rest', async () => {
    const { batches, publisher } = logThat(() => undefined);
    const broken = { ...change(1, 'a'), task: '{' };
    const outcome = await publisher.publish([change(0, 'a'), broken, change(2, 'b'), change(3, 'a')], always);
    expect(batches).toEqual([['0', '2']]);
    expect([idsOf(outcome.published), failuresOf(outcome.refused)]).toEqual([['0', '2'], ['1']]);
  });

  it('gives each record the cursor of its position, and the trace of its request if there is one', async () => {
    const sent: LogRecord[] = [];
    const seal = async (owner: string, place: object) => `${owner} ${JSON.stringify(place)}`;
    const eventLog = { publish: async (_topic: string, records: LogRecord[]) => void sent.push(...records) };
    const publisher = createPublisher(eventLog, { seal });
    await publisher.publish([{ ...change(1, 'a'), traceparent: '00-1-2-01' }, change(2, 'b')], always);
    expect(sent.map(({ key, headers }) => [key, headers])).toEqual([
      ['a', { traceparent: '00-1-2-01' }],
      ['b', undefined],
    ]);
    expect(JSON.parse(sent[0]?.value ?? '').cursor).toBe('a {"epoch":1,"sequence":1}');
  });
});
