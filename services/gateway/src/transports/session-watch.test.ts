import { jest } from '@jest/globals';
import { createSessionWatch } from './session-watch.ts';

const NOW_S = 1_800_000_000;
const DAY_MS = 86_400_000;

beforeEach(() => void jest.useFakeTimers({ now: NOW_S * 1_000 }));
afterEach(() => void jest.useRealTimers());

it('the watch over a token supports expiries beyond the range of a timer, and ignores other keys', () => {
  const onRemoved = jest.fn<(listener: () => void) => () => void>().mockReturnValue(() => undefined);
  const endedSessions = { has: () => false, onEnded: () => () => undefined };
  const accessKeys = { isCurrent: () => false, onRemoved };
  const watch = createSessionWatch({ clock: { now: () => Date.now() }, accessKeys, endedSessions });
  const onEnd = jest.fn();
  watch({ sid: 'session', exp: NOW_S + (300 * DAY_MS) / 1_000, key: undefined }, onEnd);
  for (const [removed] of onRemoved.mock.calls) removed();
  jest.setSystemTime(NOW_S * 1_000 + 300 * DAY_MS - 60_000);
  jest.advanceTimersByTime(59_999);
  expect(onEnd).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(onEnd).toHaveBeenCalledTimes(1);
});
