import { PublishError, type EventLog, type LogRecord } from './event-log.ts';
import { createOrderedPublisher, type FailedItem } from './ordered-publisher.ts';

interface Item {
  id: number;
  key: string;
  text: string;
}

const item = (id: number, key: string, text = 'x'): Item => ({ id, key, text });
const BROKEN = 'broken';

function logThat(reasonAgainst: (id: number) => Error | undefined) {
  const batches: number[][] = [];
  const eventLog: Pick<EventLog, 'publish'> = {
    async publish(topic: string, records: LogRecord[]) {
      expect(topic).toBe('items');
      const reasons = new Map<LogRecord, Error>();
      const taken: number[] = [];
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
  const publisher = createOrderedPublisher<Item>({
    eventLog,
    topic: 'items',
    keyOf: ({ key }) => key,
    sizeOf: ({ text }) => Buffer.byteLength(text),
    prepare: async (each) =>
      each.text === BROKEN ? { refused: BROKEN } : { key: each.key, value: JSON.stringify(each) },
  });
  return { batches, publisher };
}

const idsOf = (items: Item[]) => items.map(({ id }) => id);
const failuresOf = (failures: FailedItem<Item>[]) => failures.map(({ item: { id } }) => id);

describe('the ordered publisher', () => {
  it('sends items in the given order, in batches that a broker accepts', async () => {
    const { batches, publisher } = logThat(() => undefined);
    const items = Array.from({ length: 1_200 }, (_, n) => item(n, `k${n % 7}`));
    expect(await publisher.publish(items)).toEqual({ published: items, refused: [], failed: [] });
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200]);
    const large = Array.from({ length: 5 }, (_, n) => item(n, 'k', 'ü'.repeat(100_000)));
    batches.length = 0;
    await publisher.publish(large);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
  });

  it('stops sending when it is no longer allowed to', async () => {
    const { batches, publisher } = logThat(() => undefined);
    let checks = 0;
    const { published } = await publisher.publish(
      Array.from({ length: 1_200 }, (_, n) => item(n, 'k')),
      () => ++checks < 2,
    );
    expect([published.length, batches.length]).toEqual([500, 1]);
  });

  it('refuses an item without a record, holds back later ones of its key, and sends the rest', async () => {
    const { batches, publisher } = logThat(() => undefined);
    const outcome = await publisher.publish([item(0, 'a'), item(1, 'a', BROKEN), item(2, 'b'), item(3, 'a')]);
    expect(batches).toEqual([[0, 2]]);
    expect([idsOf(outcome.published), failuresOf(outcome.refused)]).toEqual([[0, 2], [1]]);
    expect(outcome.refused[0]?.reason).toBe(BROKEN);
  });

  it('reports the first item of each key that the log did not accept, and whether it ever will', async () => {
    const refusal = Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
    const { publisher } = logThat((id) => ({ 1: refusal, 2: new Error('no leader'), 4: new Error('no leader') })[id]);
    const outcome = await publisher.publish([item(0, 'a'), item(1, 'b'), item(2, 'c'), item(3, 'a'), item(4, 'c')]);
    expect(idsOf(outcome.published)).toEqual([0, 3]);
    expect([failuresOf(outcome.refused), failuresOf(outcome.failed)]).toEqual([[1], [2]]);
  });
});
