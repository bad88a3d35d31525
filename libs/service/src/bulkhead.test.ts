import { createBulkhead } from './bulkhead.ts';

const refusal = () => new Error('refused');
const createQueue = (limits: { concurrency: number; maxWaiting?: number }) =>
  createBulkhead({ maxWaitMs: 5_000, refusal, ...limits });

/** Work that the test completes. */
function createWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = { started: false, resolve, reject, run: () => ((work.started = true), promise) };
  return work;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a bulkhead', () => {
  it('runs as much at once as it may, and the rest in order', async () => {
    const queue = createQueue({ concurrency: 2 });
    const works = Array.from({ length: 4 }, createWork);
    const results = works.map((work) => queue.run('key', work.run));
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, false, false]);
    works[1]?.resolve('second');
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, true, false]);
    for (const work of works) work.resolve('done');
    await settled();
    expect(await Promise.all(results)).toEqual(['done', 'second', 'done', 'done']);
  });

  it('refuses what comes when too many wait, without starting it', async () => {
    const queue = createQueue({ concurrency: 1, maxWaiting: 200 });
    const works = Array.from({ length: 202 }, createWork);
    const results = works.map((work) => queue.run('key', work.run));
    await expect(results.at(-1)).rejects.toThrow('refused');
    works[0]?.resolve('done');
    await settled();
    expect(works.map(({ started }) => started)).toEqual([true, true, ...Array.from({ length: 200 }, () => false)]);
    for (const work of works) work.resolve('done');
    await Promise.allSettled(results);
  });

  it('goes on after a work that failed', async () => {
    const queue = createQueue({ concurrency: 1, maxWaiting: 1 });
    const work = createWork();
    const failing = queue.run('key', work.run);
    const next = queue.run('key', () => Promise.resolve('next'));
    work.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  it('starts nothing for a caller that has left, even with nothing running', async () => {
    const work = createWork();
    await expect(createQueue({ concurrency: 1 }).run('key', work.run, AbortSignal.abort())).rejects.toThrow('refused');
    expect(work.started).toBe(false);
  });

  it('passes on the place of a caller that left while it waited', async () => {
    const queue = createQueue({ concurrency: 1, maxWaiting: 1 });
    const [first, left, next] = [createWork(), createWork(), createWork()];
    const caller = new AbortController();
    const running = queue.run('key', first.run);
    const refused = queue.run('key', left.run, caller.signal);
    caller.abort();
    await expect(refused).rejects.toThrow('refused');
    const waiting = queue.run('key', next.run);
    await expect(queue.run('key', left.run, caller.signal)).rejects.toThrow('refused');
    first.resolve('first');
    next.resolve('next');
    expect(await Promise.all([running, waiting])).toEqual(['first', 'next']);
    expect(left.started).toBe(false);
  });
});
