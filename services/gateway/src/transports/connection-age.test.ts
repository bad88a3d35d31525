import { jest } from '@jest/globals';
import { createAgeLimit } from './connection-age.ts';

const clock = { now: () => Date.now() };

beforeEach(() => void jest.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => void jest.useRealTimers());

it('ends connections that came together each at its own age, a tenth of the limit around it, with one timer', () => {
  const chances = [0, 0.25, 0.5, 0.75, 1];
  const limitAge = createAgeLimit(1_000, { clock, random: () => chances.shift() ?? 0 });
  const began = Date.now();
  const ages: number[] = [];
  for (let count = 0; count < 5; count++) limitAge(() => ages.push((Date.now() - began) / 1_000));
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(2_000_000);
  expect(ages).toEqual([900, 950, 1_000, 1_050, 1_100]);
});

it('ends no connection that has closed before', () => {
  const limitAge = createAgeLimit(10, { clock, random: () => 0.5 });
  const end = jest.fn();
  limitAge(end)();
  expect(jest.getTimerCount()).toBe(0);
  jest.advanceTimersByTime(60_000);
  expect(end).not.toHaveBeenCalled();
});

it('is off at 0', () => {
  const random = jest.fn(() => 0);
  const end = jest.fn();
  createAgeLimit(0, { clock, random })(end)();
  expect([jest.getTimerCount(), random.mock.calls, end.mock.calls]).toEqual([0, [], []]);
});
