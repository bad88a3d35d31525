import { setImmediate as turn } from 'node:timers/promises';
import type { LogRecord } from '../event-log.ts';
import { PublishError } from '../event-log.ts';
import type { Producer, Reasons } from './producer.ts';
import { createPublisher } from './publisher.ts';

function createFakeProducer() {
  const sent: { values: string[]; confirm: (notTaken?: Reasons) => void }[] = [];
  let isClosed = false;
  const producer: Producer = {
    send(_topic, records) {
      const { promise, resolve } = Promise.withResolvers<Reasons>();
      sent.push({ values: records.map(({ value }) => value), confirm: (notTaken = new Map()) => resolve(notTaken) });
      return promise;
    },
    close: () => void (isClosed = true),
  };
  return { producer, sent, isClosed: () => isClosed };
}
const record = (value: string, key = 'k'): LogRecord => ({ key, value });
const notTaken = (...records: LogRecord[]): Reasons => new Map(records.map((each) => [each, new Error('no answer')]));

const namedBy = async (publishing: Promise<void>) => {
  const error: unknown = await publishing.catch((reason: unknown) => reason);
  if (!(error instanceof PublishError)) throw new Error('no PublishError', { cause: error });
  return [...error.reasons.keys()].map(({ value }) => value);
};

describe('a publisher', () => {
  it('names unconfirmed records and holds back queued records of the same keys', async () => {
    const { producer, sent } = createFakeProducer();
    const publisher = createPublisher(producer);
    const [one, two] = [record('1', 'a'), record('2', 'b')];
    const failed = publisher.publish('t', [one, two]);
    const behind = publisher.publish('t', [record('3', 'b'), record('4', 'a')]);
    const elsewhere = publisher.publish('u', [record('5', 'b')]);
    sent[0]?.confirm(notTaken(two));
    expect(await namedBy(failed)).toEqual(['2']);
    await expect(failed).rejects.toThrow('did not confirm');
    await turn();
    sent[1]?.confirm();
    expect(await namedBy(behind)).toEqual(['3']);
    await turn();
    sent[2]?.confirm();
    await elsewhere;
    expect(sent.map(({ values }) => values)).toEqual([['1', '2'], ['4'], ['5']]);

    const again = publisher.publish('t', [two, record('3', 'b')]);
    await turn();
    sent[3]?.confirm();
    await again;
    expect(sent[3]?.values).toEqual(['2', '3']);
  });

  it('splits large publishes into several requests and holds back a key after its failure', async () => {
    const { producer, sent } = createFakeProducer();
    const publisher = createPublisher(producer);
    const large = ['1', '2', '3', '4'].map((value) =>
      record(value.repeat(300_000), Number(value) % 2 ? 'odd' : 'even'),
    );
    const published = publisher.publish('t', large);
    await turn();
    sent[0]?.confirm(notTaken(...large.slice(0, 1)));
    await turn();
    sent[1]?.confirm();
    await turn();
    sent[2]?.confirm();
    expect((await namedBy(published)).map((value) => value[0])).toEqual(['1', '3']);
    expect(sent.map(({ values }) => values.map((value) => value[0]))).toEqual([['1'], ['2'], ['4']]);
  });
});
