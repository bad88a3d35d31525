export type TestClock = ReturnType<typeof createTestClock>;

/** A clock that a test can move. It runs by itself, unless it stands still at `start`. */
export function createTestClock(start?: string) {
  const base = () => (start === undefined ? Date.now() : Date.parse(start));
  let aheadMs = 0;
  return {
    now: () => base() + aheadMs,
    set: (time: string) => void (aheadMs = Date.parse(time) - base()),
    advance: (ms: number) => void (aheadMs += ms),
    reset: () => void (aheadMs = 0),
  };
}
