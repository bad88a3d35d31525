import type { AccessKeys } from '../../auth/access-keys.ts';
import type { EndedSessions } from '../../auth/ended-sessions.ts';
import type { CallerClaims, GatewayContext } from '../../context.ts';

/** Calls `onEnd` once, when the token expires, its session ends or its key is removed. Returns how to stop watching. */
export type SessionWatch = (claims: Pick<CallerClaims, 'sid' | 'exp' | 'key'>, onEnd: () => void) => () => void;

/** The longest delay that setTimeout supports. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

interface Watcher {
  key: CallerClaims['key'];
  end: () => void;
}

/** One listener for all sockets: sockets are indexed by session id. Removed keys are too rare to deserve an index. */
export function createSessionWatch(
  options: Pick<GatewayContext, 'clock'> & {
    accessKeys: Pick<AccessKeys, 'isCurrent' | 'onRemoved'>;
    endedSessions: Pick<EndedSessions, 'has' | 'onEnded'>;
  },
): SessionWatch & { stop(): void } {
  const { accessKeys, endedSessions, clock } = options;
  const watched = new Map<string, Set<Watcher>>();
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
      clearTimeout(timer);
      watchers.delete(watcher);
      if (watchers.size === 0 && watched.get(sid) === watchers) watched.delete(sid);
    };
    const end = () => {
      stop();
      onEnd();
    };
    const watcher = { key, end };
    let timer: NodeJS.Timeout;
    const waitForExpiry = () => {
      const leftMs = exp * 1000 - clock.now();
      timer =
        leftMs > MAX_TIMEOUT_MS ? setTimeout(waitForExpiry, MAX_TIMEOUT_MS) : setTimeout(end, Math.max(leftMs, 0));
    };
    waitForExpiry();
    watchers.add(watcher);
    // Either may have happened since the token was checked.
    if (endedSessions.has(sid) || isRemoved(key)) queueMicrotask(end);
    return stop;
  };
  return Object.assign(watch, { stop: () => unsubscribers.forEach((unsubscribe) => unsubscribe()) });
}
