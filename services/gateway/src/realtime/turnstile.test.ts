import { createTurnstile } from './turnstile.ts';

/** Work that ends when it is told to. */
function createWork() {
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const work = (number: number) => () =>
    new Promise<number>((resolve, reject) => {
      begun.push(number);
      ends.set(number, (error) => (error ? reject(error) : resolve(number)));
    });
  return { begun, end: (number: number, error?: Error) => ends.get(number)?.(error), work };
}

const settle = () => new Promise(setImmediate);

it('lets so many work at once, and the others in their order when a place is free', async () => {
  const turnstile = createTurnstile(2);
  const { begun, end, work } = createWork();
  const results = [1, 2, 3, 4].map((number) => turnstile(work(number)));
  await settle();
  expect(begun).toEqual([1, 2]);
  end(2);
  await settle();
  expect(begun).toEqual([1, 2, 3]);
  const late = turnstile(work(5));
  end(1);
  end(3);
  await settle();
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  end(4);
  end(5);
  expect(await Promise.all([...results, late])).toEqual([1, 2, 3, 4, 5]);
  const again = turnstile(work(6));
  await settle();
  expect(begun.at(-1)).toBe(6);
  end(6);
  await again;
});

it('gives the place of work that failed to the next', async () => {
  const turnstile = createTurnstile(1);
  const { end, work } = createWork();
  const first = turnstile(work(1));
  const second = turnstile(work(2));
  await settle();
  end(1, new Error('failed'));
  await expect(first).rejects.toThrow('failed');
  await settle();
  end(2);
  expect(await second).toBe(2);
});
