/** Time that passes only when the test says so. */
export function createManualTime() {
  let now = Date.UTC(2026, 0, 1);
  let timers: { at: number; call: () => void }[] = [];
  /** Fires the next timer, and lets its promises settle. Returns false if there is none, or none until then. */
  const fireNext = async (until = Infinity) => {
    await settled();
    const [next] = timers.filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at);
    if (!next) return false;
    timers = timers.filter((each) => each !== next);
    now = Math.max(now, next.at);
    next.call();
    await settled();
    return true;
  };
  return {
    now: () => now,
    random: () => 0.5,
    after(ms: number, call: () => void) {
      const timer = { at: now + ms, call };
      timers.push(timer);
      return () => void (timers = timers.filter((each) => each !== timer));
    },
    /** Sets the clock forward, without firing timers. */
    skip: (ms: number) => void (now += ms),
    fireNext,
    /** Fires all timers due within this time, one after another, and lets their promises settle. */
    async pass(ms: number) {
      const until = now + ms;
      while (await fireNext(until));
      now = until;
      await settled();
    },
  };
}

/** Resolves once all promises that can settle have settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
