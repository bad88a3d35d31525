import { createPositions } from './positions.ts';

const topic = (id: string, ...partitions: number[]) => ({
  id,
  partitions: partitions.map((partition) => ({ partition, leader: 1 })),
});
const END = -1n;
const BEGIN = -2n;

describe('the positions of a reader', () => {
  it('begin at the end of the partitions that are there at first', () => {
    const positions = createPositions();
    expect(positions.areSettled()).toBe(false);
    positions.reconcile(topic('t', 0, 1));
    expect(positions.unknownOf([0, 1])).toEqual([0, 1].map((partition) => ({ partition, at: END })));
    positions.moveTo(0, 5n);
    expect(positions.areSettled()).toBe(false);
    positions.moveTo(1, 0n);
    expect(positions.areSettled()).toBe(true);
    expect([positions.offset(0), positions.offset(1)]).toEqual([5n, 0n]);
  });

  it('begin with the first record of a partition that is added later', () => {
    const positions = createPositions();
    positions.reconcile(topic('t', 0));
    positions.moveTo(0, 5n);
    positions.reconcile(topic('t', 0, 1));
    expect(positions.unknownOf([0, 1])).toEqual([{ partition: 1, at: BEGIN }]);
    expect(positions.areSettled()).toBe(true);
  });

  it('begin with the first record of a topic that was not there at first', () => {
    const positions = createPositions();
    positions.reconcile(undefined);
    expect(positions.areSettled()).toBe(true);
    positions.reconcile(topic('t', 0));
    expect(positions.unknownOf([0])).toEqual([{ partition: 0, at: BEGIN }]);
  });

  it('begin again when there is another topic under the same name', () => {
    const positions = createPositions();
    positions.reconcile(topic('old', 0, 1));
    positions.moveTo(0, 5n);
    positions.reconcile(topic('new', 0));
    expect(positions.unknownOf([0])).toEqual([{ partition: 0, at: BEGIN }]);
    expect(positions.areSettled()).toBe(true);
  });

  it('stay when the same topic was out of sight for a while', () => {
    const positions = createPositions();
    positions.reconcile(topic('t', 0));
    positions.moveTo(0, 5n);
    positions.reconcile(undefined);
    positions.reconcile(topic('t', 0));
    expect(positions.offset(0)).toBe(5n);
  });
});
