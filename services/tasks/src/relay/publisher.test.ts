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

const tooLarge = () => Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });

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
  it('sends in the given order, in batches that a broker takes', async () => {
    const { batches, publisher } = logThat(() => undefined);
    const changes = Array.from({ length: 1_200 }, (_, n) => change(n, `o${n % 7}`));
    expect(await publisher.publish(changes, always)).toEqual({ published: changes, refused: [], failed: [] });
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200]);
    const large = Array.from({ length: 5 }, (_, n) => change(n, 'o', 'ü'.repeat(100_000)));
    batches.length = 0;
    await publisher.publish(large, always);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
  });

  it('holds back what an owner did behind a change that is not taken, and sends all that is of others', async () => {
    const { batches, publisher } = logThat((id) => (id === '407' ? new Error('no leader') : undefined));
    const changes = Array.from({ length: 1_200 }, (_, n) => change(n, n % 500 === 407 ? 'held' : `o${n % 7}`));
    const { published, refused, failed } = await publisher.publish(changes, always);
    expect([failuresOf(failed), failuresOf(refused)]).toEqual([['407'], []]);
    expect(batches.map((batch) => batch.length)).toEqual([499, 499, 200]);
    expect(idsOf(published)).toEqual(idsOf(changes.filter(({ owner_id }) => owner_id !== 'held')));
  });

  it('ends when nothing is taken any more', async () => {
    const { batches, publisher } = logThat((id) => (Number(id) >= 500 ? new Error('away') : undefined));
    const changes = Array.from({ length: 1_600 }, (_, n) => change(n, `o${n}`));
    const { published, failed } = await publisher.publish(changes, always);
    expect([published.length, failed.length, batches.length]).toEqual([500, 500, 2]);
  });

  it('prepares each batch right before it is sent, after a turn of the event loop', async () => {
    let [sealed, turns] = [0, 0];
    const sent: number[][] = [];
    const publisher = createPublisher(
      { publish: async () => void sent.push([sealed, turns]) },
      { seal: async () => String(++sealed) },
    );
    const count = () => void setImmediate(() => turns++ < 10 && count());
    count();
    await publisher.publish(
      Array.from({ length: 1_200 }, (_, n) => change(n, `o${n}`)),
      always,
    );
    expect(sent).toEqual([
      [500, 0],
      [1_000, 1],
      [1_200, 2],
    ]);
  });

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

  it('tells what the log will never take from what it does not take now', async () => {
    const { publisher } = logThat((id) => ({ 1: tooLarge(), 2: new Error('no leader') })[id]);
    const outcome = await publisher.publish([change(0, 'a'), change(1, 'b'), change(2, 'c'), change(3, 'd')], always);
    expect(idsOf(outcome.published)).toEqual(['0', '3']);
    expect([failuresOf(outcome.refused), failuresOf(outcome.failed)]).toEqual([['1'], ['2']]);
  });

  it('blames no record for what the log says of all together', async () => {
    const cursors = { seal: async () => 'cursor' };
    const publisher = createPublisher({ publish: () => Promise.reject(tooLarge()) }, cursors);
    const { refused, failed } = await publisher.publish([change(0, 'a'), change(1, 'b')], always);
    expect([failuresOf(refused), failuresOf(failed)]).toEqual([[], ['0', '1']]);
  });

  it('asks the log for nothing when all of a batch waits for its owner, and goes on with the next one', async () => {
    const { batches, publisher } = logThat((id) => (id === '1' ? new Error('no leader') : undefined));
    const ownerOf = (n: number) => (n > 0 && n < 1_000 ? 'held' : 'other');
    const { published, failed } = await publisher.publish(
      Array.from({ length: 1_001 }, (_, n) => change(n, ownerOf(n))),
      always,
    );
    expect(batches).toEqual([['0', ...Array.from({ length: 498 }, (_, n) => String(n + 2))], ['1000']]);
    expect(failuresOf(failed)).toEqual(['1']);
    expect(idsOf(published)).toContain('1000');
  });

  it('tells of each owner only the first change that was not taken', async () => {
    const { publisher } = logThat((id) => (id === '3' ? undefined : new Error('no leader')));
    const changes = [change(0, 'a'), change(1, 'a'), change(2, 'b'), change(3, 'c')];
    const { failed } = await publisher.publish(changes, always);
    expect(failuresOf(failed)).toEqual(['0', '2']);
  });

  it('gives each record the cursor of its place, and the trace of its request when there is one', async () => {
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
