import { jest } from '@jest/globals';
import { createBoundedQueue } from './bounded-queue.ts';

/** Work that the test completes. */
function createWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = { started: false, resolve, reject, run: () => ((work.started = true), promise) };
  return work;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Advances time, for `performance.now` as well. */
async function pass(milliseconds: number): Promise<void> {
  await settled();
  jest.advanceTimersByTime(milliseconds);
  await settled();
}

let others: boolean;
const createQueue = (limits: { concurrency: number; maxWaiting: number }) =>
  createBoundedQueue({ ...limits, othersWait: () => others });

describe('a bounded queue', () => {
  beforeEach(() => void (others = false));
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('runs as much at once as it may, and the rest in order', async () => {
    const queue = createQueue({ concurrency: 2, maxWaiting: 10 });
    const works = Array.from({ length: 4 }, createWork);
    const results = works.map((work) => queue.run(work.run));
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, false, false]);
    expect(queue.waiting()).toBe(2);
    works[1]?.resolve('second');
    await pass(1);
    expect(works.map(({ started }) => started)).toEqual([true, true, true, false]);
    for (const work of works) work.resolve('done');
    await pass(1);
    await pass(1);
    expect(await Promise.all(results)).toEqual(['done', 'second', 'done', 'done']);
  });

  it('goes on at once while nobody else waits, and with one less and rests as soon as somebody does', async () => {
    const queue = createQueue({ concurrency: 2, maxWaiting: 10 });
    const works = Array.from({ length: 6 }, createWork);
    const started = () => works.filter((work) => work.started).length;
    for (const work of works) void queue.run(work.run);
    await pass(40);
    works[0]?.resolve('done');
    await pass(0);
    expect(started()).toBe(3);
    others = true;
    works[1]?.resolve('done');
    works[2]?.resolve('done');
    await pass(39);
    expect(started()).toBe(3);
    await pass(1);
    expect(started()).toBe(4);
    others = false;
    works[3]?.resolve('done');
    await pass(0);
    expect(started()).toBe(6);
  });

  it('lets nobody overtake those who wait', async () => {
    others = true;
    const queue = createQueue({ concurrency: 2, maxWaiting: 10 });
    const works = [createWork(), createWork(), createWork()] as const;
    for (const work of works.slice(0, 2)) void queue.run(work.run);
    others = false;
    void queue.run(works[2].run);
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, false]);
  });

  it('has a place beside others also when it has no more than one', async () => {
    others = true;
    const work = createWork();
    void createQueue({ concurrency: 1, maxWaiting: 0 }).run(work.run);
    await settled();
    expect(work.started).toBe(true);
  });

  it.each([
    ['as long as a work took', 40, 40],
    ['a tenth of a second at most, however long a work was frozen', 60_000, 100],
  ])('rests beside others %s; the result does not wait for that', async (_, workMs, restMs) => {
    others = true;
    const queue = createQueue({ concurrency: 1, maxWaiting: 1 });
    const works = [createWork(), createWork()] as const;
    const results = works.map((work) => queue.run(work.run));
    await pass(workMs);
    works[0].resolve('done');
    expect(await results[0]).toBe('done');
    await pass(restMs - 1);
    expect(works[1].started).toBe(false);
    await pass(1);
    expect(works[1].started).toBe(true);
  });

  it('refuses what comes when too many wait, without starting it', async () => {
    const queue = createQueue({ concurrency: 1, maxWaiting: 200 });
    const works = Array.from({ length: 202 }, createWork);
    const turns = works.map((work) => queue.run(work.run));
    expect(turns.map((turn) => turn === undefined)).toEqual([...Array.from({ length: 201 }, () => false), true]);
    works[0]?.resolve('done');
    await pass(1);
    expect(works.map(({ started }) => started)).toEqual([true, true, ...Array.from({ length: 200 }, () => false)]);
    expect(queue.run(() => Promise.resolve('later'))).toBeDefined();
  });

  it('goes on after a work that failed', async () => {
    const queue = createQueue({ concurrency: 1, maxWaiting: 1 });
    const work = createWork();
    const failing = queue.run(work.run);
    const next = queue.run(() => Promise.resolve('next'));
    work.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    await pass(1);
    expect(await next).toBe('next');
  });
});
