import { jest } from '@jest/globals';
import { createAlarms } from './connection-ends.ts';

const NOW_S = 1_800_000_000;

beforeEach(() => void jest.useFakeTimers({ now: NOW_S * 1_000 }));
afterEach(() => void jest.useRealTimers());

const started = () => createAlarms({ now: () => Date.now() });

it('ring each at its time, in whatever order they were set', () => {
  const setAlarm = started();
  const rung: number[] = [];
  const at = (second: number) => setAlarm(NOW_S + second, () => rung.push(second));
  for (const second of [30, 10, 20, 10]) at(second);
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(9_999);
  expect(rung).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(rung).toEqual([10, 10]);
  at(15);
  jest.advanceTimersByTime(5_000);
  expect(rung).toEqual([10, 10, 15]);
  jest.advanceTimersByTime(15_000);
  expect(rung).toEqual([10, 10, 15, 20, 30]);
  expect(jest.getTimerCount()).toBe(0);
});

it('ring within ten seconds after the clock was set forward, and not early when it was set back', () => {
  const setAlarm = started();
  const rung: number[] = [];
  for (const second of [100, 3_600]) setAlarm(NOW_S + second, () => rung.push(second));
  jest.setSystemTime((NOW_S - 1_000) * 1_000);
  jest.advanceTimersByTime(200_000);
  expect(rung).toEqual([]);
  jest.setSystemTime((NOW_S + 4_000) * 1_000);
  jest.advanceTimersByTime(10_000);
  expect(rung).toEqual([100, 3_600]);
  expect(jest.getTimerCount()).toBe(0);
});

it('ring soon when their time has passed, and do not when they are cancelled, even by another one', () => {
  const setAlarm = started();
  const rung: string[] = [];
  const cancels: (() => void)[] = [];
  setAlarm(NOW_S - 10, () => {
    rung.push('past');
    for (const cancel of cancels) cancel();
  });
  cancels.push(setAlarm(NOW_S - 10, () => rung.push('at the same time')));
  cancels.push(setAlarm(NOW_S + 10, () => rung.push('later')));
  jest.advanceTimersByTime(20_000);
  expect(rung).toEqual(['past']);
  expect(jest.getTimerCount()).toBe(0);
});
