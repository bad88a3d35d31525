import { createSlowWork, eventually } from '@taskmesh/testing';
import type { FetchedMessage, FetchedPartition } from 'kafkajs/src/protocol/requests/index.js';
import type { Address } from './config.ts';
import type { ListedOffset, Node } from './node.ts';
import { BEGIN } from './positions.ts';
import { createReader } from './reader.ts';
import type { ClusterMetadata } from './topic-metadata.ts';

const UNKNOWN_TOPIC = 3;
const NOT_LEADER = 6;
const OFFSET_OUT_OF_RANGE = 1;

const message = (offset: number, more: Partial<FetchedMessage> = {}): FetchedMessage => ({
  offset: String(offset),
  key: Buffer.from('k'),
  value: Buffer.from(String(offset)),
  ...more,
});
const ok = (partition: number, ...messages: (number | FetchedMessage)[]) => ({
  ...{ partition, errorCode: 0 },
  messages: messages.map((each) => (typeof each === 'number' ? message(each) : each)),
});
const failed = (partition: number, errorCode: number) => ({ partition, errorCode, messages: [] });

type Fetch = (partitions: { partition: number; offset: bigint }[]) => FetchedPartition[] | Error;
type ListOffsets = (partitions: { partition: number; at: bigint }[]) => ListedOffset[];

const topicOf = (leaders: number[], id = 't1'): ClusterMetadata => ({
  brokers: ['one', 'two'].map((host, index) => ({ nodeId: index + 1, host, port: 1 })),
  topic: { id, partitions: leaders.map((leader, partition) => ({ partition, leader })) },
});

/** Two fake brokers with scripted responses. A broker without further responses waits until it is closed. */
function createCluster(...leaders: number[]) {
  const fetches = new Map<string, Fetch[]>();
  const requests: string[] = [];
  const open = new Set<Node>();
  let connects = 0;
  const cluster = {
    metadata: topicOf(leaders) as ClusterMetadata | Error,
    /** Brokers that refuse connections. */
    down: new Set<string>(),
    listOffsets: ((partitions) =>
      partitions.map(({ partition }) => ({ partition, errorCode: 0, offset: 0n }))) as ListOffsets,
    requests,
    lastRequestTo: (host: string) => requests.findLast((line) => line.startsWith(host)),
    open: () => open.size,
    connects: () => connects,
    respond(host: string, ...responses: (FetchedPartition[] | Fetch)[]) {
      const all = responses.map((each) => (typeof each === 'function' ? each : () => each));
      fetches.set(host, [...(fetches.get(host) ?? []), ...all]);
    },
    connect({ host }: Address): Node {
      const closing = Promise.withResolvers<never>();
      closing.promise.catch(() => undefined);
      connects += 1;
      const reach = () => {
        if (cluster.down.has(host)) throw new Error(`connection to ${host} refused`);
      };
      const node: Node = {
        async metadata() {
          reach();
          if (cluster.metadata instanceof Error) throw cluster.metadata;
          return cluster.metadata;
        },
        async listOffsets(_topic, partitions) {
          reach();
          return cluster.listOffsets(partitions);
        },
        async fetch(_topic, partitions) {
          reach();
          const offsets = partitions.map(({ partition, offset }) => `${partition}@${offset}`);
          requests.push(`${host}: ${offsets.toSorted().join(' ')}`);
          const response = fetches.get(host)?.shift()?.(partitions);
          if (response instanceof Error) throw response;
          return response ?? closing.promise;
        },
        close() {
          open.delete(node);
          closing.reject(new Error('closed'));
        },
      };
      open.add(node);
      return node;
    },
  };
  return cluster;
}

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

function read(cluster: ReturnType<typeof createCluster>, work = () => {}) {
  const values: string[] = [];
  const lines: { level: string; msg: string }[] = [];
  const write = (level: string) => (fields: object, msg: string) => void lines.push({ ...fields, level, msg });
  const reader = createReader({
    topic: 't',
    seeds: [{ host: 'one', port: 1 }],
    connect: cluster.connect,
    onRecord({ value }) {
      values.push(value);
      work();
    },
    log: { debug() {}, info: write('info'), warn: write('warn'), error: write('error') },
    random: () => 0,
  });
  stops.push(reader.stop);
  return { ...reader, values, lines };
}

describe('reading a topic from its leaders', () => {
  it('reads each partition from its leader and skips partitions without a leader', async () => {
    const cluster = createCluster(1, 2, 1, -1);
    const { stop, ready } = read(cluster);
    let isReady = false;
    void ready().then(() => (isReady = true));
    await eventually(() => cluster.requests.length === 2);
    expect(isReady).toBe(false); // one has no offset yet
    expect(cluster.requests.toSorted()).toEqual(['one: 0@0 2@0', 'two: 1@0']);
    await stop();
    expect(cluster.open()).toBe(0);
  });

  it('delivers a large batch over several turns of the event loop and can be stopped in between', async () => {
    const cluster = createCluster(1);
    const { work, done } = createSlowWork();
    const { stop, values } = read(cluster, work);
    cluster.respond('one', () => {
      const stopSoon = () => void (values.length < 20 ? setImmediate(stopSoon) : stop());
      setImmediate(stopSoon);
      return [ok(0, ...Array(10_000).keys())];
    });
    await eventually(() => values.length >= 20);
    await stop();
    expect(done.mostInOneTurn).toBeLessThanOrEqual(6);
    expect(values.length).toBeLessThanOrEqual(32);
  });

  it('continues after the last delivered record, and skips earlier ones of a batch and control records', async () => {
    const cluster = createCluster(1);
    cluster.listOffsets = () => [{ partition: 0, errorCode: 0, offset: 5n }];
    cluster.respond('one', [ok(0, 3, 4, 5, 6)], [ok(0, message(7, { isControlRecord: true }))], [ok(0, 8)]);
    const { values, ready } = read(cluster);
    await ready();
    await eventually(() => cluster.requests.length === 4);
    expect(values).toEqual(['5', '6', '8']);
    expect(cluster.requests).toEqual(['one: 0@5', 'one: 0@7', 'one: 0@8', 'one: 0@9']);
  });

  it('rotates the partitions in requests, so that a full one does not starve the others', async () => {
    const cluster = createCluster(1, 1, 1);
    const firsts: (number | undefined)[] = [];
    const note: Fetch = (partitions) => (firsts.push(partitions[0]?.partition), []);
    cluster.respond('one', note, note, note);
    read(cluster);
    await eventually(() => firsts.length === 3);
    expect(firsts.toSorted()).toEqual([0, 1, 2]);
  });

  it.each([
    ['before the first available record', 7n, { begin: 40n, end: 90n }, 40n],
    ['beyond the end', 97n, { begin: 40n, end: 90n }, 90n],
  ])('continues at the nearest end when its offset is %s', async (_, previous, { begin, end }, nearest) => {
    const cluster = createCluster(1);
    cluster.listOffsets = () => [{ partition: 0, errorCode: 0, offset: previous }];
    cluster.respond('one', () => {
      cluster.listOffsets = ([first]) => [{ partition: 0, errorCode: 0, offset: first?.at === BEGIN ? begin : end }];
      return [failed(0, OFFSET_OUT_OF_RANGE)];
    });
    read(cluster);
    await eventually(() => expect(cluster.requests).toEqual([`one: 0@${previous}`, `one: 0@${nearest}`]));
  });
});

it.each<[string, Fetch]>([
  ['connection', () => new Error('reset by peer')],
  ['partition', () => [failed(0, UNKNOWN_TOPIC)]],
])(
  'a topic that is recreated while it is followed is read from its first record after a failed %s, never from the old offset',
  async (_, failure) => {
    const cluster = createCluster(1);
    cluster.listOffsets = ([first]) => [{ partition: 0, errorCode: 0, offset: first?.at === BEGIN ? 0n : 30n }];
    cluster.respond('one', (...request) => {
      cluster.metadata = topicOf([1], 't2');
      return failure(...request);
    });
    read(cluster);
    await eventually(() => expect(cluster.requests).toEqual(['one: 0@30', 'one: 0@0']));
  },
);

describe('a failing part of a topic', () => {
  it('does not affect partitions of other leaders when a leader refuses connections', async () => {
    const cluster = createCluster(1, 2);
    cluster.down.add('two');
    const { values, lines } = read(cluster);
    for (let offset = 0; offset < 5; offset += 1) cluster.respond('one', [ok(0, offset)]);
    await eventually(() => expect(lines).toMatchObject([{ level: 'warn' }]));
    expect(values).toEqual(['0', '1', '2', '3', '4']);
    // Six requests, so the working leader was never interrupted.
    expect(cluster.lastRequestTo('one')).toBe('one: 0@5');
    expect(cluster.requests.filter((line) => line.startsWith('one'))).toHaveLength(6);

    cluster.down.delete('two');
    cluster.respond('two', [ok(1, 0)]);
    await eventually(() => expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']));
    await eventually(() => expect(values).toHaveLength(6));
  });

  it('does not affect other partitions of the same leader, and recovers', async () => {
    const cluster = createCluster(1, 1);
    cluster.respond('one', [failed(0, NOT_LEADER), ok(1, 0, 1)], [ok(1, 2)], [], [], [], (partitions) =>
      partitions.map(({ partition }) => ok(partition)),
    );
    const { values } = read(cluster);
    await eventually(() => expect(values).toEqual(['0', '1', '2']));
    expect(cluster.requests.slice(0, 3)).toEqual(['one: 0@0 1@0', 'one: 1@2', 'one: 1@3']);
  });

  it('is followed to its new leader without interrupting other partitions', async () => {
    const cluster = createCluster(1, 2);
    cluster.respond('two', [ok(1, 0, 1)], () => {
      cluster.metadata = topicOf([1, 3]);
      cluster.metadata.brokers.push({ nodeId: 3, host: 'three', port: 1 });
      return new Error('reset by peer');
    });
    const { values } = read(cluster);
    await eventually(() => expect(cluster.lastRequestTo('three')).toBe('three: 1@2'));
    expect(values).toEqual(['0', '1']);
    expect(cluster.requests.filter((line) => line.startsWith('one'))).toEqual(['one: 0@0']);
  });

  it('is logged when it has no leader', async () => {
    const cluster = createCluster(1, -1);
    const { lines } = read(cluster);
    await eventually(() =>
      expect(lines).toMatchObject([{ level: 'warn', part: 1, err: { message: 'The partition has no leader.' } }]),
    );
    cluster.metadata = topicOf([1, 1]);
    cluster.respond('one', [], [ok(0), ok(1)]);
    await eventually(() => expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']));
  });
});
