import { setImmediate as turn } from 'node:timers/promises';
import { createPublisher } from './publisher.ts';

/** Producers that confirm what the test tells them to, and remember what they were given. */
function createProducers() {
  const sent: { producer: number; values: string[]; confirm: () => void; fail: () => void }[] = [];
  const closed: number[] = [];
  let count = 0;
  const connect = () => {
    const producer = (count += 1);
    return {
      send(_topic: string, records: { value: string }[]) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const values = records.map(({ value }) => value);
        sent.push({ producer, values, confirm: resolve, fail: () => reject(new Error('no answer')) });
        return promise;
      },
      close: () => void closed.push(producer),
    };
  };
  return { connect, sent, closed };
}
const record = (value: string) => ({ key: 'k', value });

describe('a publisher', () => {
  it('sends one request at a time, in the order of the calls', async () => {
    const { connect, sent } = createProducers();
    const publisher = createPublisher({ connect });
    const first = publisher.publish('t', [record('1'), record('2')]);
    const second = publisher.publish('t', [record('3')]);
    await turn();
    expect(sent.map(({ values }) => values)).toEqual([['1', '2']]);
    sent[0]?.confirm();
    await first;
    await turn();
    expect(sent.map(({ producer, values }) => ({ producer, values }))).toEqual([
      { producer: 1, values: ['1', '2'] },
      { producer: 1, values: ['3'] },
    ]);
    sent[1]?.confirm();
    await second;
  });

  it('throws the producer away after a failure, and rejects what waited, so that nothing overtakes', async () => {
    const { connect, sent, closed } = createProducers();
    const publisher = createPublisher({ connect });
    const failed = publisher.publish('t', [record('1')]);
    const behind = publisher.publish('t', [record('2')]);
    sent[0]?.fail();
    await expect(failed).rejects.toThrow('did not confirm');
    await expect(behind).rejects.toThrow('did not confirm');
    expect(closed).toEqual([1]);
    expect(sent).toHaveLength(1);

    const again = publisher.publish('t', [record('1'), record('2')]);
    await turn();
    sent[1]?.confirm();
    await again;
    expect(sent[1]).toMatchObject({ producer: 2, values: ['1', '2'] });
  });

  it('cuts what a broker would refuse into several requests, and stops at the first that fails', async () => {
    const { connect, sent } = createProducers();
    const publisher = createPublisher({ connect });
    const large = ['1', '2', '3'].map((value) => record(value.repeat(300_000)));
    const published = publisher.publish('t', large);
    await turn();
    sent[0]?.confirm();
    await turn();
    sent[1]?.fail();
    await expect(published).rejects.toThrow('did not confirm');
    await turn();
    expect(sent.map(({ values }) => values.map((value) => value[0]))).toEqual([['1'], ['2']]);
  });

  it('rejects what is under way when it is closed', async () => {
    const { connect, closed } = createProducers();
    const publisher = createPublisher({ connect });
    void publisher.publish('t', [record('1')]).catch(() => undefined);
    publisher.close();
    expect(closed).toEqual([1]);
    await expect(publisher.publish('t', [record('2')])).rejects.toThrow('closed');
  });
});
