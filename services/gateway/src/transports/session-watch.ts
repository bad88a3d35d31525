import { createAlarms } from '@taskmesh/realtime-protocol';
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
  const { accessKeys, clock, endedSessions } = options;
  const setAlarm = createAlarms(() => clock.now());
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
