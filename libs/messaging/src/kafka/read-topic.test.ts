import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import type { FetchedMessage, FetchedPartition } from 'kafkajs/src/protocol/requests/index.js';
import type { Address } from './config.ts';
import type { ListedOffset, Node } from './node.ts';
import { createPositions } from './positions.ts';
import { readTopic } from './read-topic.ts';
import type { ClusterMetadata } from './topic-metadata.ts';

const NOT_LEADER = 6;
const OFFSET_OUT_OF_RANGE = 1;

const one: Address = { host: 'one', port: 1 };
const two: Address = { host: 'two', port: 2 };
const brokers = [
  { nodeId: 1, ...one },
  { nodeId: 2, ...two },
];
const message = (offset: number, more: Partial<FetchedMessage> = {}): FetchedMessage => ({
  offset: String(offset),
  key: Buffer.from('k'),
  value: Buffer.from(String(offset)),
  ...more,
});

type Fetch = (partitions: { partition: number; offset: bigint }[]) => FetchedPartition[] | Error;
type ListOffsets = (partitions: { partition: number; at: bigint }[]) => ListedOffset[];

/** Two brokers of our own, whose answers the test gives; one that has no more answers waits until it is closed. */
function createCluster(metadata: ClusterMetadata) {
  const fetches = new Map<string, Fetch[]>([
    ['one', []],
    ['two', []],
  ]);
  const asked: string[] = [];
  const closed: string[] = [];
  let listOffsets: ListOffsets = (partitions) =>
    partitions.map(({ partition }) => ({ partition, errorCode: 0, offset: 0n }));

  const connect = ({ host }: Address): Node => {
    const closing = Promise.withResolvers<never>();
    closing.promise.catch(() => undefined);
    return {
      metadata: async () => metadata,
      listOffsets: async (_topic, partitions) => listOffsets(partitions),
      async fetch(_topic, partitions) {
        asked.push(
          `${host}: ${partitions
            .map(({ partition, offset }) => `${partition}@${offset}`)
            .toSorted()
            .join(' ')}`,
        );
        const answer = fetches.get(host)?.shift()?.(partitions);
        if (answer instanceof Error) throw answer;
        return answer ?? closing.promise;
      },
      close() {
        closed.push(host);
        closing.reject(new Error('closed'));
      },
    };
  };
  return {
    connect,
    asked,
    closed,
    answer: (host: string, ...answers: Fetch[]) => fetches.get(host)?.push(...answers),
    onListOffsets: (answer: ListOffsets) => (listOffsets = answer),
  };
}

function start(cluster: ReturnType<typeof createCluster>, positions = createPositions()) {
  const stopping = new AbortController();
  const values: string[] = [];
  const reading = readTopic({
    topic: 't',
    positions,
    seed: one,
    connect: cluster.connect,
    signal: stopping.signal,
    onRecord: ({ value }) => values.push(value),
    onBrokers: () => undefined,
    onPositions: () => undefined,
    onProgress: () => undefined,
    log: createLog({ service: 'test', level: 'silent' }),
  });
  return { reading, values, positions, stop: () => stopping.abort() };
}
const partitions = (...leaders: number[]) => ({
  id: 't1',
  partitions: leaders.map((leader, partition) => ({ partition, leader })),
});
const ok = (partition: number, ...messages: FetchedMessage[]) => ({ partition, errorCode: 0, messages });

describe('reading a topic from its leaders', () => {
  it('asks each leader for its own partitions, and leaves out those that have none', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1, 2, 1, -1) });
    const { reading, stop } = start(cluster);
    await eventually(() => cluster.asked.length === 2);
    expect(cluster.asked.toSorted()).toEqual(['one: 0@0 2@0', 'two: 1@0']);
    stop();
    await reading;
    expect(cluster.closed.toSorted()).toEqual(['one', 'two']);
  });

  it('goes on behind what it delivered, and delivers nothing of a batch that lies before its offset', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1) });
    cluster.onListOffsets(() => [{ partition: 0, errorCode: 0, offset: 5n }]);
    cluster.answer(
      'one',
      () => [ok(0, message(3), message(4), message(5), message(6))],
      () => [ok(0, message(7))],
    );
    const { reading, values, stop } = start(cluster);
    await eventually(() => cluster.asked.length === 3);
    stop();
    await reading;
    expect(values).toEqual(['5', '6', '7']);
    expect(cluster.asked).toEqual(['one: 0@5', 'one: 0@7', 'one: 0@8']);
  });

  it('skips the marks of transactions, and passes them', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1) });
    cluster.answer(
      'one',
      () => [ok(0, message(0, { isControlRecord: true }))],
      () => [ok(0, message(1))],
    );
    const { reading, values, stop } = start(cluster);
    await eventually(() => values.length > 0);
    stop();
    await reading;
    expect(values).toEqual(['1']);
  });

  it('goes on with the first record that is kept when its offset is not there any more', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1) });
    cluster.onListOffsets((asked) =>
      asked.map(({ partition, at }) => ({ partition, errorCode: 0, offset: at === -2n ? 40n : 7n })),
    );
    cluster.answer(
      'one',
      () => [{ partition: 0, errorCode: OFFSET_OUT_OF_RANGE, messages: [] }],
      () => [ok(0, message(40))],
    );
    const { reading, values, stop } = start(cluster);
    await eventually(() => values.length > 0);
    stop();
    await reading;
    expect(values).toEqual(['40']);
    expect(cluster.asked.slice(0, 2)).toEqual(['one: 0@7', 'one: 0@40']);
  });

  it('delivers what came beside a partition whose leader moved, ends, and goes on from there', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1, 1) });
    cluster.answer('one', () => [{ partition: 0, errorCode: NOT_LEADER, messages: [] }, ok(1, message(0), message(1))]);
    const first = start(cluster);
    await expect(first.reading).rejects.toMatchObject({ type: 'NOT_LEADER_FOR_PARTITION' });
    expect(first.values).toEqual(['0', '1']);
    expect(cluster.closed).toEqual(['one']);

    const moved = createCluster({ brokers, topic: partitions(2, 1) });
    const next = start(moved, first.positions);
    await eventually(() => moved.asked.length === 2);
    expect(moved.asked.toSorted()).toEqual(['one: 1@2', 'two: 0@0']);
    next.stop();
    await next.reading;
  });

  it('closes every connection when one of them fails', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1, 2) });
    cluster.answer('two', () => new Error('reset by peer'));
    const { reading } = start(cluster);
    await expect(reading).rejects.toThrow('reset by peer');
    expect(cluster.closed.toSorted()).toEqual(['one', 'two']);
  });

  it('keeps the offsets that were found when another partition has none yet', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1, 1) });
    cluster.onListOffsets(() => [
      { partition: 0, errorCode: 0, offset: 9n },
      { partition: 1, errorCode: NOT_LEADER, offset: -1n },
    ]);
    const { reading, positions } = start(cluster);
    await expect(reading).rejects.toMatchObject({ type: 'NOT_LEADER_FOR_PARTITION' });
    expect([positions.offset(0), positions.offset(1)]).toEqual([9n, undefined]);
    expect(positions.areSettled()).toBe(false);
  });

  it('puts another partition first in each request, so that a full one starves no other', async () => {
    const cluster = createCluster({ brokers, topic: partitions(1, 1, 1) });
    const firsts: (number | undefined)[] = [];
    const note: Fetch = (asked) => (firsts.push(asked[0]?.partition), []);
    cluster.answer('one', note, note, note);
    const { reading, stop } = start(cluster);
    await eventually(() => firsts.length === 3);
    stop();
    await reading;
    expect(firsts.toSorted()).toEqual([0, 1, 2]);
  });
});
