import { createBoundedQueue } from './bounded-queue.ts';

/** Work that the test completes. */
function createWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = { started: false, resolve, reject, run: () => ((work.started = true), promise) };
  return work;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a bounded queue', () => {
  it('runs as much at once as it may, and the rest in order', async () => {
    const queue = createBoundedQueue({ concurrency: 2, maxWaiting: 10 });
    const works = Array.from({ length: 4 }, createWork);
    const results = works.map((work) => queue.run(work.run));
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, false, false]);
    expect(queue.waiting()).toBe(2);
    works[1]?.resolve('second');
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, true, false]);
    for (const work of works) work.resolve('done');
    await settled();
    await settled();
    expect(await Promise.all(results)).toEqual(['done', 'second', 'done', 'done']);
  });

  it('refuses what comes when too many wait, without starting it', async () => {
    const queue = createBoundedQueue({ concurrency: 1, maxWaiting: 200 });
    const works = Array.from({ length: 202 }, createWork);
    const turns = works.map((work) => queue.run(work.run));
    expect(turns.map((turn) => turn === undefined)).toEqual([...Array.from({ length: 201 }, () => false), true]);
    works[0]?.resolve('done');
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, ...Array.from({ length: 200 }, () => false)]);
    expect(queue.run(() => Promise.resolve('later'))).toBeDefined();
  });

  it('goes on after a work that failed', async () => {
    const queue = createBoundedQueue({ concurrency: 1, maxWaiting: 1 });
    const work = createWork();
    const failing = queue.run(work.run);
    const next = queue.run(() => Promise.resolve('next'));
    work.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    await settled();
    expect(await next).toBe('next');
  });
});
