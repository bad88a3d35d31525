import { jest } from '@jest/globals';
import { createSessionWatch } from './connection-ends.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 1_800_000_000_000;

beforeEach(() => void jest.useFakeTimers({ now: NOW_MS }));
afterEach(() => void jest.useRealTimers());

function fixture() {
  const state = { removed: false, onRemoved: () => {} };
  const watch = createSessionWatch({
    clock: { now: () => Date.now() },
    accessKeys: {
      isCurrent: () => !state.removed,
      onRemoved(listener) {
        state.onRemoved = listener;
        return () => undefined;
      },
    },
    endedSessions: { has: () => false, onEnded: () => () => undefined },
  });
  const claims = (inMs: number) => ({ sid: 'session', exp: (NOW_MS + inMs) / 1_000, key: undefined });
  return { state, watch, claims };
}

describe('the watch over a token', () => {
  it('waits for an end that is further away than a timer can wait', async () => {
    const { watch, claims } = fixture();
    const onEnd = jest.fn();
    watch(claims(300 * DAY_MS), onEnd);
    jest.setSystemTime(NOW_MS + 300 * DAY_MS - 60_000);
    await jest.advanceTimersByTimeAsync(59_999);
    expect(onEnd).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(onEnd).toHaveBeenCalledTimes(1);
  });

  it('of no key of ours does not mind that one is removed', () => {
    const { state, watch, claims } = fixture();
    const onEnd = jest.fn();
    const stop = watch(claims(DAY_MS), onEnd);
    state.removed = true;
    state.onRemoved();
    expect(onEnd).not.toHaveBeenCalled();
    stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
