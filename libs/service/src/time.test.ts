import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTimedQuery, backoffMs, settlesWithin, withDeadline } from './time.ts';

describe('the pause after failures', () => {
  const BACKOFF = { firstMs: 50, maxMs: 1_000 };

  it('doubles with each failure, up to a maximum', () => {
    expect([0, 1, 2, 3, 5, 6, 2_000].map((failures) => backoffMs(failures, BACKOFF))).toEqual([
      ...[50, 50, 100, 200, 800, 1_000, 1_000],
    ]);
  });

  it('is spread over its upper half', () => {
    expect([0, 0.5, 1].map((random) => backoffMs(3, BACKOFF, () => random))).toEqual([100, 150, 200]);
  });
});

describe('a deadline', () => {
  const late = () => new Error('too late');

  it('settles like the work if that is done in time', async () => {
    await expect(withDeadline(Promise.resolve(7), 10_000, late)).resolves.toBe(7);
    await expect(withDeadline(Promise.reject(new Error('failed')), 10_000, late)).rejects.toThrow('failed');
  });

  it('rejects if it is not, and leaves no later failure unhandled', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    await expect(withDeadline(promise, 1, late)).rejects.toThrow('too late');
    reject(new Error('no one waits'));
    await sleep(1); // an unhandled rejection would end the test run
  });

  it('does not expire if the result was there before this process had time for it', async () => {
    await new Promise(setImmediate); // from here on, timers run before answers are read
    const answered = withDeadline(stat(import.meta.filename), 20, late);
    const until = performance.now() + 200;
    while (performance.now() < until);
    expect((await answered).isFile()).toBe(true);
  });

  it('reports whether work is done in time, and fails like the work', async () => {
    expect(await settlesWithin(Promise.resolve(7), 10_000)).toBe(true);
    expect(await settlesWithin(new Promise(() => undefined), 1)).toBe(false);
    await expect(settlesWithin(Promise.reject(new Error('failed')), 10_000)).rejects.toThrow('failed');
  });
});

it('a query that may not be answered runs once at a time, and no caller waits longer than the limit', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let asked = 0;
  const ask = createTimedQuery(20, () => {
    asked++;
    return promise;
  });
  expect(await Promise.all([ask(), ask()])).toEqual([undefined, undefined]);
  expect(await ask()).toBeUndefined();
  expect(asked).toBe(1);
  resolve('late');
  expect(await ask()).toBe('late');
});
