import { monotonicClock } from '@taskmesh/service';
import { createAlarms } from './sockets/alarms.ts';

/**
 * Calls `end` once when the connection is old enough, unless the returned function is called before. Who cannot go on
 * from a cursor would lose what happens meanwhile: such a client is asked about again after as long.
 */
export type LimitAge = (end: () => void, canResume: () => boolean) => () => void;

/** How far ages differ from the limit, both ways: connections that came together must not leave together. */
const JITTER = 0.1;

/** The limit of how old a live connection becomes; 0: none. With it, new gateways get their share of clients that stay. */
export function createAgeLimit(maxAgeS: number, random: () => number): LimitAge {
  if (maxAgeS === 0) return () => () => {};
  const setAlarm = createAlarms(monotonicClock);
  return (end, canResume) => {
    let forget = () => {};
    const wait = () => {
      const second = Math.round(monotonicClock.now() / 1_000 + maxAgeS * (1 + JITTER * (2 * random() - 1)));
      forget = setAlarm(second, () => (canResume() ? end() : wait()));
    };
    wait();
    return () => forget();
  };
}
