import { jest } from '@jest/globals';
import { createAgeLimit, createAlarms } from '../src/timers.ts';

const NOW_S = 1_800_000_000;

beforeEach(() => void jest.useFakeTimers({ now: NOW_S * 1_000 }));
afterEach(() => void jest.useRealTimers());

describe('alarms', () => {
  it('ring each at its time, set in any order, with one timer', () => {
    const setAlarm = createAlarms(Date.now);
    const rung: number[] = [];
    for (const second of [30, 10, 20, 10]) setAlarm(NOW_S + second, () => rung.push(second));
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(9_999);
    expect(rung).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(rung).toEqual([10, 10]);
    jest.advanceTimersByTime(20_000);
    expect(rung).toEqual([10, 10, 20, 30]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ring soon after the clock was set forward, and not early when it was set back', () => {
    const setAlarm = createAlarms(Date.now);
    const rung: number[] = [];
    for (const second of [100, 3_600]) setAlarm(NOW_S + second, () => rung.push(second));
    jest.setSystemTime((NOW_S - 1_000) * 1_000);
    jest.advanceTimersByTime(200_000);
    expect(rung).toEqual([]);
    jest.setSystemTime((NOW_S + 4_000) * 1_000);
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual([100, 3_600]);
  });

  it('do not ring once they are cancelled, even by another alarm', () => {
    const setAlarm = createAlarms(Date.now);
    const rung: string[] = [];
    const cancels: (() => void)[] = [];
    setAlarm(NOW_S - 10, () => {
      rung.push('past');
      for (const cancel of cancels) cancel();
    });
    cancels.push(setAlarm(NOW_S - 10, () => rung.push('at the same time')));
    cancels.push(setAlarm(NOW_S + 10, () => rung.push('later')));
    jest.advanceTimersByTime(20_000);
    expect([rung, jest.getTimerCount()]).toEqual([['past'], 0]);
  });
});

describe('the age limit', () => {
  it('ends connections opened together at different ages, within a tenth of the limit', () => {
    const chances = [0, 0.25, 0.5, 0.75, 1];
    const limitAge = createAgeLimit(1_000, () => chances.shift() ?? 0);
    const ages: number[] = [];
    for (let count = 0; count < 5; count++)
      limitAge(
        () => ages.push(Date.now() / 1_000 - NOW_S),
        () => true,
      );
    jest.advanceTimersByTime(2_000_000);
    expect(ages).toEqual([900, 950, 1_000, 1_050, 1_100]);
  });

  it('checks a client that cannot resume again after the same time, until it closes', () => {
    const limitAge = createAgeLimit(10, () => 0.5);
    const end = jest.fn();
    const canResume = jest.fn(() => canResume.mock.calls.length > 2);
    limitAge(end, canResume);
    jest.advanceTimersByTime(29_000);
    expect([canResume.mock.calls.length, end.mock.calls.length]).toEqual([2, 0]);
    jest.advanceTimersByTime(1_000);
    expect(end).toHaveBeenCalledTimes(1);
    const forget = limitAge(end, () => false);
    jest.advanceTimersByTime(15_000);
    forget();
    createAgeLimit(0)(end, canResume); // none
    expect(jest.getTimerCount()).toBe(0);
  });
});
