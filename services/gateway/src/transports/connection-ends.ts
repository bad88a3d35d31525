import { type Clock, monotonicClock } from '@taskmesh/service';
import type { AccessKeys } from '../auth/access-keys.ts';
import type { EndedSessions } from '../auth/sessions.ts';
import type { CallerClaims, GatewayContext } from '../context.ts';

/** Calls `onEnd` once, when the token expires, its session ends or its key is removed. Returns a function that stops watching. */
export type SessionWatch = (claims: Pick<CallerClaims, 'sid' | 'exp' | 'key'>, onEnd: () => void) => () => void;

/** Uses one listener and one timer for all sockets, indexed by session id. Keys are removed too rarely to need an index. */
export function createSessionWatch(
  options: Pick<GatewayContext, 'clock'> & {
    accessKeys: Pick<AccessKeys, 'isCurrent' | 'onRemoved'>;
    endedSessions: Pick<EndedSessions, 'has' | 'onEnded'>;
  },
): SessionWatch & { stop(): void } {
  const { accessKeys, endedSessions } = options;
  const setAlarm = createAlarms(options.clock);
  const watched = new Map<string, Set<{ key: CallerClaims['key']; end: () => void }>>();
  const isRemoved = (key: CallerClaims['key']) => key !== undefined && !accessKeys.isCurrent(key);
  const unsubscribers = [
    endedSessions.onEnded((sessionId) => {
      for (const { end } of [...(watched.get(sessionId) ?? [])]) end();
    }),
    accessKeys.onRemoved(() => {
      const all = [...watched.values()].flatMap((watchers) => [...watchers]);
      for (const { key, end } of all) if (isRemoved(key)) end();
    }),
  ];

  const watch: SessionWatch = ({ sid, exp, key }, onEnd) => {
    const watchers = watched.get(sid) ?? new Set();
    watched.set(sid, watchers);
    const stop = () => {
      cancel();
      watchers.delete(watcher);
      if (watchers.size === 0 && watched.get(sid) === watchers) watched.delete(sid);
    };
    const end = () => {
      stop();
      onEnd();
    };
    const watcher = { key, end };
    const cancel = setAlarm(exp, end);
    watchers.add(watcher);
    // The session may have ended, or the key been removed, since the token was checked.
    if (endedSessions.has(sid) || isRemoved(key)) queueMicrotask(end);
    return stop;
  };
  return Object.assign(watch, { stop: () => unsubscribers.forEach((unsubscribe) => unsubscribe()) });
}

/**
 * Calls `end` once when the connection is old enough, unless the returned function is called before. A client that cannot
 * resume from a cursor would lose changes: its connection is kept, and checked again after the same time.
 */
export type LimitAge = (end: () => void, canResume: () => boolean) => () => void;

/** How far ages vary around the limit, both ways: connections opened together must not close together. */
const JITTER = 0.1;

/** Limits the age of live connections; 0: no limit. With a limit, new gateways get their share of long-lived connections. */
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

/** Calls `ring` at this time, in Unix seconds, unless the returned function is called before. */
export type SetAlarm = (second: number, ring: () => void) => () => void;

const READ_CLOCK_EVERY_MS = 1_000;

/** Alarms for many connections with one timer. It polls the clock, which may be adjusted, and advances while the machine sleeps. */
export function createAlarms(clock: Clock): SetAlarm {
  const bySecond = new Map<number, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;

  const stopIfUnused = () => {
    if (bySecond.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const ringDue = () => {
    const now = clock.now();
    for (const [second, rings] of bySecond) {
      if (second * 1_000 > now) continue;
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
