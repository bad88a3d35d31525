import { jest } from '@jest/globals';
import { createAgeLimit } from './connection-ends.ts';

const always = () => true;

beforeEach(() => void jest.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => void jest.useRealTimers());

it('ends connections that came together each at its own age, a tenth of the limit around it, with one timer', () => {
  const chances = [0, 0.25, 0.5, 0.75, 1];
  const limitAge = createAgeLimit(1_000, () => chances.shift() ?? 0);
  const began = Date.now();
  const ages: number[] = [];
  for (let count = 0; count < 5; count++) limitAge(() => ages.push((Date.now() - began) / 1_000), always);
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(2_000_000);
  expect(ages).toEqual([900, 950, 1_000, 1_050, 1_100]);
});

it('ends no connection that has closed before', () => {
  const limitAge = createAgeLimit(10, () => 0.5);
  const end = jest.fn();
  limitAge(end, always)();
  expect(jest.getTimerCount()).toBe(0);
  jest.advanceTimersByTime(60_000);
  expect(end).not.toHaveBeenCalled();
});

it('asks again after as long about one whose client could not go on where it was', () => {
  const limitAge = createAgeLimit(10, () => 0.5);
  const end = jest.fn();
  const canResume = jest.fn(() => canResume.mock.calls.length > 2);
  const forget = limitAge(end, canResume);
  jest.advanceTimersByTime(29_000);
  expect([canResume.mock.calls.length, end.mock.calls.length]).toEqual([2, 0]);
  jest.advanceTimersByTime(1_000);
  expect(end).toHaveBeenCalledTimes(1);
  forget();
  limitAge(end, () => false);
  const again = limitAge(end, () => false);
  jest.advanceTimersByTime(15_000);
  again();
  expect(jest.getTimerCount()).toBe(1);
});

it('is off at 0', () => {
  const random = jest.fn(() => 0);
  const end = jest.fn();
  createAgeLimit(0, random)(end, always)();
  expect([jest.getTimerCount(), random.mock.calls, end.mock.calls]).toEqual([0, [], []]);
});
