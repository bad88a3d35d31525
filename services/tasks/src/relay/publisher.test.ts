import type { EventLog, LogRecord } from '@taskmesh/messaging';
import { createPublisher, type ReadChange } from './publisher.ts';

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
    epoch: 1,
  };
}

/** An event log that refuses what `refuses` says, and remembers the ids of what it took, batch by batch. */
function logThat(refuses: (ids: string[]) => boolean) {
  const batches: string[][] = [];
  const eventLog: Pick<EventLog, 'publish'> = {
    async publish(_topic: string, records: LogRecord[]) {
      const ids = records.map(({ value }) => JSON.parse(value).id);
      if (refuses(ids)) throw new Error('refused');
      batches.push(ids);
    },
  };
  const cursors = { seal: async () => 'cursor', open: async () => null };
  return { batches, publisher: createPublisher(eventLog, cursors) };
}

const always = () => true;

describe('publishing', () => {
  it('sends in the given order, in batches that a broker takes', async () => {
    const { batches, publisher } = logThat(() => false);
    const changes = Array.from({ length: 1_200 }, (_, n) => change(n, `o${n % 7}`));
    const outcome = await publisher.publish(changes, always);
    expect(outcome).toEqual({ published: changes.map(({ id }) => id), refused: [] });
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200]);
    const large = Array.from({ length: 5 }, (_, n) => change(n, 'o', 'ü'.repeat(100_000)));
    batches.length = 0;
    await publisher.publish(large, always);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
  });

  it('ends at the first failure and tells what was taken before', async () => {
    const { batches, publisher } = logThat((ids) => ids.includes('700'));
    const outcome = await publisher.publish(
      Array.from({ length: 1_200 }, (_, n) => change(n, 'o')),
      always,
    );
    expect(outcome.published).toHaveLength(500);
    expect(outcome.failure).toBeInstanceOf(Error);
    expect(batches).toHaveLength(1);
  });

  it('sends nothing more once it may not', async () => {
    const { batches, publisher } = logThat(() => false);
    let asked = 0;
    const outcome = await publisher.publish(
      Array.from({ length: 1_200 }, (_, n) => change(n, 'o')),
      () => ++asked < 2,
    );
    expect([outcome.published.length, batches.length]).toEqual([500, 1]);
  });

  it('refuses what cannot be written down, holds back what its owner did after it, and sends the rest', async () => {
    const { batches, publisher } = logThat(() => false);
    const broken = { ...change(1, 'a'), task: '{' };
    const outcome = await publisher.publish([change(0, 'a'), broken, change(2, 'b'), change(3, 'a')], always);
    expect(batches).toEqual([['0', '2']]);
    expect(outcome).toMatchObject({ published: ['0', '2'], refused: [{ id: '1' }] });
  });
});

describe('publishing one by one', () => {
  it('finds the record that the log will not take, and holds back its owner only', async () => {
    const { batches, publisher } = logThat((ids) => ids.includes('1'));
    const changes = [change(0, 'a'), change(1, 'a'), change(2, 'b'), change(3, 'a'), change(4, 'c')];
    const outcome = await publisher.publishSingly(changes, always, 0);
    expect(outcome).toMatchObject({ published: ['0', '2', '4'], refused: [{ id: '1' }] });
    expect(batches.flat()).toEqual(['0', '2', '4']);
  });

  it('blames no record when the log takes none', async () => {
    let sent = 0;
    const { publisher } = logThat(() => ++sent > 0);
    const outcome = await publisher.publishSingly(
      Array.from({ length: 50 }, (_, n) => change(n, `o${n}`)),
      always,
      0,
    );
    expect(outcome).toMatchObject({ published: [], refused: [], failure: expect.any(Error) });
    expect(sent).toBe(3);
  });

  it('lets another owner begin at each turn, so that several bad records in front cannot hide the others', async () => {
    const { publisher } = logThat(([id]) => ['0', '1', '2'].includes(id ?? ''));
    const changes = Array.from({ length: 6 }, (_, n) => change(n, `o${n}`));
    expect(await publisher.publishSingly(changes, always, 0)).toMatchObject({ published: [], refused: [] });
    const outcome = await publisher.publishSingly(changes, always, 1);
    expect(outcome.published).toEqual(['3', '4', '5']);
    expect(outcome.refused.map(({ id }) => id).toSorted()).toEqual(['0', '1', '2']);
  });
});
