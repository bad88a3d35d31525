export interface TestClock {
  now(): number;
  set(time: string): void;
  advance(ms: number): void;
  reset(): void;
}

/** A clock that a test can move. It runs by itself, unless it stands still at `start`. */
export function createTestClock(start?: string): TestClock {
  const base = () => (start === undefined ? Date.now() : Date.parse(start));
  let aheadMs = 0;
  return {
    now: () => base() + aheadMs,
    set: (time) => void (aheadMs = Date.parse(time) - base()),
    advance: (ms) => void (aheadMs += ms),
    reset: () => void (aheadMs = 0),
  };
}
