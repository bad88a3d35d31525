import type { Time } from '../../src/time.ts';

/** Time that passes when the test says so. */
export interface ManualTime extends Time {
  /** All that comes due in these milliseconds happens, one after the other, with what is promised for it. */
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

/** All promises that nothing holds up have done what they do. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
