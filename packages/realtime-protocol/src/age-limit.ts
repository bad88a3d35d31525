/**
 * Calls `end` once when the connection is old enough, unless the returned function is called before. A client that cannot
 * resume from a cursor would lose changes: its connection is kept, and checked again after the same time.
 */
export type LimitAge = (end: () => void, canResume: () => boolean) => () => void;

/** How far ages vary around the limit, both ways: connections opened together must not close together. */
const JITTER = 0.1;

/**
 * Limits the age of live connections, give or take a tenth, with one timer for all. With a limit, new servers get their share of
 * long-lived connections.
 * @param maxAgeS in seconds; 0: no limit
 * @param random from 0 to 1
 */
export function createAgeLimit(maxAgeS: number, random: () => number = Math.random): LimitAge {
  if (maxAgeS === 0) return () => () => {};
  const setAlarm = createAlarms(() => performance.now());
  return (end, canResume) => {
    let forget = () => {};
    const wait = () => {
      const second = Math.round(performance.now() / 1_000 + maxAgeS * (1 + JITTER * (2 * random() - 1)));
      forget = setAlarm(second, () => (canResume() ? end() : wait()));
    };
    wait();
    return () => forget();
  };
}

/** Calls `ring` at this time, in seconds of the alarms' clock, unless the returned function is called before. */
export type SetAlarm = (second: number, ring: () => void) => () => void;

const READ_CLOCK_EVERY_MS = 1_000;

/**
 * Alarms for many connections with one timer, for example for the ends of their tokens. It polls the clock, which may be adjusted,
 * and advances while the machine sleeps. An alarm rings up to a second late.
 * @param now the clock in milliseconds, such as Unix time
 */
export function createAlarms(now: () => number): SetAlarm {
  const bySecond = new Map<number, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;

  const stopIfUnused = () => {
    if (bySecond.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const ringDue = () => {
    const nowMs = now();
    for (const [second, rings] of bySecond) {
      if (second * 1_000 > nowMs) continue;
      bySecond.delete(second);
      for (const ring of rings) ring();
    }
    stopIfUnused();
  };

  return (second, ring) => {
    const rings = bySecond.get(second) ?? new Set();
    bySecond.set(second, rings.add(ring));
    timer ??= setInterval(ringDue, READ_CLOCK_EVERY_MS);
    return () => {
      rings.delete(ring);
      if (rings.size > 0 || bySecond.get(second) !== rings) return;
      bySecond.delete(second);
      stopIfUnused();
    };
  };
}
