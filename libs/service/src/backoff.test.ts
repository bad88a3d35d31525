import { backoffMs } from './backoff.ts';

const BACKOFF = { firstMs: 50, longestMs: 1_000 };

it('doubles with each failure, up to the longest', () => {
  expect([0, 1, 2, 3, 5, 6, 2_000].map((failures) => backoffMs(failures, BACKOFF))).toEqual([
    ...[50, 50, 100, 200, 800, 1_000, 1_000],
  ]);
});

it('is spread over its upper half', () => {
  expect([0, 0.5, 1].map((random) => backoffMs(3, BACKOFF, () => random))).toEqual([100, 150, 200]);
});
