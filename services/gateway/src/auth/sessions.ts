import { EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { AuthInternal, EndedSession } from '@taskmesh/internal-api';
import { type Clock, createPeriodic, type Log } from '@taskmesh/service';

const POLL_EVERY_MS = 300;
const SWEEP_EVERY_MS = 60_000;
/**
 * How long an ended session is kept after its tokens have expired, and at least: the clock may be wrong when it is learnt, and
 * tokens live an hour by default.
 */
const KEEP_LONGER_MS = 2 * 3_600_000;

/** Sessions whose tokens are no longer accepted, although they have not expired yet. `start` does not wait for the list. */
export type EndedSessions = ReturnType<typeof createEndedSessions>;

export interface EndedSessionsDeps {
  auth: Pick<AuthInternal, 'endedSessions'>;
  clock: Clock;
  log: Log;
  /** @default performance.now */
  monotonicMs?: () => number;
}

/** auth is the source of truth, and is polled continuously. */
export function createEndedSessions({ auth, clock, log, monotonicMs = () => performance.now() }: EndedSessionsDeps) {
  /** When to forget each session, in monotonic time. */
  const ended = new Map<string, number>();
  const listeners = new Set<(sessionId: string) => void>();
  let position = 0;
  /** The session at `position`. */
  let newest: string | undefined;
  let isLoaded = false;
  let nextSweepMs = 0;

  const apply = ({ sessionId, until }: EndedSession) => {
    // Channels accept tokens that have just expired.
    const lifeMs = Math.max((until + EXPIRED_TOKEN_GRACE_S) * 1_000 - clock.now(), 0);
    const known = ended.get(sessionId);
    ended.set(sessionId, Math.max(monotonicMs() + lifeMs + KEEP_LONGER_MS, known ?? 0));
    if (known !== undefined) return;
    for (const listener of listeners) listener(sessionId);
  };

  const sweep = () => {
    const nowMs = monotonicMs();
    if (nowMs < nextSweepMs) return;
    nextSweepMs = nowMs + SWEEP_EVERY_MS;
    for (const [sessionId, keptUntilMs] of ended) if (keptUntilMs < nowMs) ended.delete(sessionId);
  };

  const readNew = async () => {
    for (;;) {
      const { last, sessions } = await auth.endedSessions(Math.max(0, position - 1));
      for (const session of sessions) apply(session);
      const [first] = sessions;
      // auth has another list: it was restored, or a failover lost commits and their numbers were used again.
      const isOther = last < position || (first?.sequence === position && first.sessionId !== newest);
      if (isOther) return void (position = 0); // the next poll starts over
      if (last === position) break;
      position = last;
      newest = sessions.find(({ sequence }) => sequence === last)?.sessionId;
    }
    isLoaded = true;
    sweep();
  };

  const poll = createPeriodic({ everyMs: POLL_EVERY_MS, task: readNew, what: 'the list of ended sessions', log });

  return {
    has: (sessionId: string): boolean => ended.has(sessionId),
    /** Records sessions whose end this gateway saw, ahead of the next poll. */
    announce(sessions: EndedSession[]) {
      for (const session of sessions) apply(session);
    },
    /** Calls back once for each session that ends from now on. Returns a function that unsubscribes. */
    onEnded(listener: (sessionId: string) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Whether the whole list has been loaded since the start. */
    loaded: (): boolean => isLoaded,
    start: async () => poll.start(),
    stop: () => poll.stop(),
  };
}

const SEND_EVERY_MS = 10_000;
/** Sessions whose use is remembered while auth is unavailable; further ones are dropped. */
const MAX_UNSENT = 50_000;
const MAX_BATCH_SIZE = 5_000;

/** Records when sessions were last used here. auth shows this to their users. */
export type SessionUses = ReturnType<typeof createSessionUses>;

export interface SessionUsesDeps {
  auth: Pick<AuthInternal, 'noteSessionUses'>;
  clock: Clock;
  log: Log;
}

/** Reports to auth in batches: no request waits for it, and many uses of one session are reported as one. */
export function createSessionUses({ auth, clock, log }: SessionUsesDeps) {
  const unsent = new Map<string, number>();

  const send = async () => {
    while (unsent.size > 0) {
      const uses = [...unsent.entries()].slice(0, MAX_BATCH_SIZE).map(([sessionId, at]) => ({ sessionId, at }));
      await auth.noteSessionUses(uses);
      for (const { sessionId, at } of uses) if (unsent.get(sessionId) === at) unsent.delete(sessionId);
      if (uses.length < MAX_BATCH_SIZE) break;
    }
  };

  const periodic = createPeriodic({ everyMs: SEND_EVERY_MS, task: send, what: 'telling when sessions were used', log });

  return {
    note(sessionId: string): void {
      if (unsent.size < MAX_UNSENT || unsent.has(sessionId)) unsent.set(sessionId, clock.now());
    },
    async start() {
      periodic.start({ afterPause: true });
    },
    /** Reports the last uses, too. */
    stop: () => periodic.stop().then(() => periodic.now()),
  };
}
