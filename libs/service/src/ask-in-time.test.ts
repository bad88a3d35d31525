import { askInTime } from './ask-in-time.ts';

describe('a question that may not be answered', () => {
  it('has its answer, and is asked anew the next time', async () => {
    let asked = 0;
    const ask = askInTime(1_000, async () => ++asked);
    expect([await ask(), await ask()]).toEqual([1, 2]);
  });

  it('has none when it fails', async () => {
    expect(await askInTime(1_000, () => Promise.reject(new Error('away')))()).toBeUndefined();
  });

  it('is asked once at a time, and nobody waits for longer than is said', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let asked = 0;
    const ask = askInTime(20, () => {
      asked++;
      return promise;
    });
    expect(await Promise.all([ask(), ask()])).toEqual([undefined, undefined]);
    expect(await ask()).toBeUndefined();
    expect(asked).toBe(1);
    resolve('late');
    expect(await ask()).toBe('late');
  });
});
