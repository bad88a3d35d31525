import type { AccessTokenClaims } from '@taskmesh/identity';
import type { Clock } from '@taskmesh/service';
import type { EndedSessions } from '../auth/ended-sessions.ts';

/** Calls `onEnd` once when the token expires or its session ends; the returned function ends the watch. */
export type SessionWatch = (claims: AccessTokenClaims, onEnd: () => void) => () => void;

/** setTimeout cannot wait longer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** One listener for all sockets: a session's end finds its own by the session's id. */
export function createSessionWatch(endedSessions: EndedSessions, clock: Clock): SessionWatch & { stop(): void } {
  const watched = new Map<string, Set<() => void>>();
  const unsubscribe = endedSessions.onEnded((sessionId) => {
    for (const end of [...(watched.get(sessionId) ?? [])]) end();
  });

  const watch: SessionWatch = ({ sid, exp }, onEnd) => {
    const enders = watched.get(sid) ?? new Set();
    watched.set(sid, enders);
    const stop = () => {
      clearTimeout(timer);
      enders.delete(end);
      if (enders.size === 0 && watched.get(sid) === enders) watched.delete(sid);
    };
    const end = () => {
      stop();
      onEnd();
    };
    const timer = setTimeout(end, Math.min(Math.max(exp * 1000 - clock.now(), 0), MAX_TIMEOUT_MS));
    enders.add(end);
    // It may have ended between the check of the token and now.
    if (endedSessions.has(sid)) queueMicrotask(end);
    return stop;
  };
  return Object.assign(watch, { stop: unsubscribe });
}
