import type { Address } from './config.ts';
import { leadersAnswer } from './leaders-answer.ts';
import type { Node } from './node.ts';

const NOT_LEADER = 6;
const seed: Address = { host: 'seed', port: 1 };

/** Brokers that lead one partition each, by index; `codes` says with which code each of them answers. */
function createCluster(leaders: number[] | undefined, codes: Record<string, number> = {}) {
  const asked: string[] = [];
  const open = new Set<string>();
  const connect = ({ host }: Address): Node => {
    open.add(host);
    return {
      metadata: async () => ({
        brokers: [1, 2].map((nodeId) => ({ nodeId, host: `b${nodeId}`, port: 1 })),
        topic: leaders && { id: 't', partitions: leaders.map((leader, partition) => ({ partition, leader })) },
      }),
      async listOffsets(_topic, partitions) {
        asked.push(`${host} ${partitions.map(({ partition, at }) => `${partition}@${at}`).join(' ')}`);
        if (codes[host] === undefined) throw new Error('reset by peer');
        return partitions.map(({ partition }) => ({ partition, errorCode: codes[host] ?? 0, offset: 0n }));
      },
      fetch: () => Promise.reject(new Error('no one reads here')),
      close: () => void open.delete(host),
    };
  };
  return { asked, open, answer: () => leadersAnswer('t', seed, connect) };
}

it('a topic is there when the leader of each of its partitions answers for it', async () => {
  const { answer, asked, open } = createCluster([1, 2, 1], { b1: 0, b2: 0 });
  expect(await answer()).toBe(true);
  expect(asked.toSorted()).toEqual(['b1 0@-1 2@-1', 'b2 1@-1']);
  expect(open).toEqual(new Set());
});

it.each([
  ['is unknown', undefined],
  ['has no partitions', []],
  ['has a partition without a leader', [1, -1]],
  ['has a leader that has not opened its partition', [1, 2]],
])('a topic is not there when it %s', async (_what, leaders) => {
  const { answer, open } = createCluster(leaders, { b1: 0, b2: NOT_LEADER });
  expect(await answer()).toBe(false);
  expect(open).toEqual(new Set());
});

it('no connection is left behind when a leader does not answer', async () => {
  const { answer, open } = createCluster([1, 2], { b1: 0 });
  await expect(answer()).rejects.toThrow('reset by peer');
  expect(open).toEqual(new Set());
});
