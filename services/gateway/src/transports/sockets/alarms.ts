import type { Clock } from '@taskmesh/service';

/** Timers do not notice that the clock was set, or that the machine slept: it is read again this often. */
const READ_CLOCK_EVERY_MS = 5_000;

/** Calls `ring` at this time, in Unix seconds, unless the returned function is called before. */
export type SetAlarm = (second: number, ring: () => void) => () => void;

/** Alarms of many connections, with one timer: for the next of them. */
export function createAlarms(clock: Clock): SetAlarm {
  const bySecond = new Map<number, Set<() => void>>();
  let next = Infinity;
  let timer: NodeJS.Timeout | undefined;

  const waitFor = (second: number) => {
    clearTimeout(timer);
    next = second;
    if (second === Infinity) return;
    const leftMs = second * 1_000 - clock.now();
    timer = setTimeout(ringDue, Math.min(Math.max(leftMs, 0), READ_CLOCK_EVERY_MS));
  };

  const ringDue = () => {
    const now = clock.now();
    for (const [second, rings] of bySecond) {
      if (second * 1_000 > now) continue;
      bySecond.delete(second);
      for (const ring of rings) ring();
    }
    let soonest = Infinity;
    for (const second of bySecond.keys()) soonest = Math.min(soonest, second);
    waitFor(soonest);
  };

  return (second, ring) => {
    const rings = bySecond.get(second) ?? new Set();
    bySecond.set(second, rings.add(ring));
    if (second < next) waitFor(second);
    return () => {
      rings.delete(ring);
      if (rings.size > 0 || bySecond.get(second) !== rings) return;
      bySecond.delete(second);
      if (bySecond.size === 0) waitFor(Infinity);
    };
  };
}
