import type { Time } from '../../src/time.ts';

/** Time that passes only when the test calls `pass`. */
export interface ManualTime extends Time {
  /** Fires all timers due within this time, one after another, and lets their promises settle. */
  pass(ms: number): Promise<void>;
}

export function createManualTime(): ManualTime {
  let now = Date.UTC(2026, 0, 1);
  let timers: { at: number; call: () => void }[] = [];
  return {
    now: () => now,
    random: () => 0.5,
    after(ms, call) {
      const timer = { at: now + ms, call };
      timers.push(timer);
      return () => void (timers = timers.filter((each) => each !== timer));
    },
    async pass(ms) {
      const until = now + ms;
      for (;;) {
        await settled();
        const [next] = timers.filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at);
        if (!next) break;
        timers = timers.filter((each) => each !== next);
        now = Math.max(now, next.at);
        next.call();
      }
      now = until;
      await settled();
    },
  };
}

/** Resolves once all promises that can settle have settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
