import { realTime } from '../src/time.ts';

it.each([2 ** 31, Infinity])('a timer of %d milliseconds does not fire at once', async (ms) => {
  let calls = 0;
  const cancel = realTime.after(ms, () => (calls += 1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  cancel();
  expect(calls).toBe(0);
});
