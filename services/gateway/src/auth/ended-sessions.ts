import { EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { AuthInternal, EndedSession } from '@taskmesh/internal-api';
import type { KeyValue } from '@taskmesh/key-value';
import { createPeriodic, parseJson, type Clock, type Log, type Service } from '@taskmesh/service';

const POLL_EVERY_MS = 300;
const SWEEP_EVERY_MS = 60_000;
const CHANNEL = 'sessions.ended';

/** Sessions whose tokens are no longer accepted, although they have not expired yet. `start` does not wait for the list. */
export interface EndedSessions extends Service {
  has(sessionId: string): boolean;
  /** Records sessions whose end this gateway saw, and informs the other gateways. */
  announce(sessions: EndedSession[]): void;
  /** Calls back once for each session that ends from now on. Returns how to unsubscribe. */
  onEnded(listener: (sessionId: string) => void): () => void;
  /** Whether the whole list has been loaded since the start. */
  loaded(): boolean;
}

export interface EndedSessionsDeps {
  auth: Pick<AuthInternal, 'endedSessions'>;
  keyValue: KeyValue;
  clock: Clock;
  log: Log;
}

/** auth is the source of truth and is polled continuously; messages from other gateways only speed things up. */
export function createEndedSessions({ auth, keyValue, clock, log }: EndedSessionsDeps): EndedSessions {
  const untilBySession = new Map<string, number>();
  const listeners = new Set<(sessionId: string) => void>();
  let position = 0;
  let isLoaded = false;
  let nextSweep = 0;
  let unsubscribe: () => Promise<void> = async () => undefined;

  const take = ({ sessionId, until }: EndedSession) => {
    const known = untilBySession.get(sessionId);
    untilBySession.set(sessionId, Math.max(until, known ?? 0));
    if (known !== undefined) return;
    for (const listener of listeners) listener(sessionId);
  };

  const sweep = () => {
    if (clock.now() < nextSweep) return;
    nextSweep = clock.now() + SWEEP_EVERY_MS;
    // Channels accept just-expired tokens.
    const takenFromS = clock.now() / 1000 - EXPIRED_TOKEN_GRACE_S;
    for (const [sessionId, until] of untilBySession) if (until < takenFromS) untilBySession.delete(sessionId);
  };

  const readNew = async () => {
    for (;;) {
      const { last, sessions } = await auth.endedSessions(position);
      for (const session of sessions) take(session);
      // The numbering went back: auth was restored and has a new list.
      const isRenumbered = last < position;
      position = isRenumbered ? 0 : last;
      if (sessions.length === 0 && !isRenumbered) break;
    }
    isLoaded = true;
    sweep();
  };

  const poll = createPeriodic({ everyMs: POLL_EVERY_MS, task: readNew, what: 'the list of ended sessions', log });

  return {
    has: (sessionId) => untilBySession.has(sessionId),
    announce(sessions) {
      for (const session of sessions) take(session);
      void keyValue.publish(CHANNEL, JSON.stringify(sessions));
    },
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    loaded: () => isLoaded,
    async start() {
      unsubscribe = await keyValue.subscribe(CHANNEL, (message) => {
        for (const session of readMessage(message)) take(session);
      });
      poll.start();
    },
    async stop() {
      await poll.stop();
      await unsubscribe();
    },
  };
}

function readMessage(message: string): EndedSession[] {
  const sessions = parseJson(message);
  return Array.isArray(sessions) ? sessions.filter(isEndedSession) : [];
}

function isEndedSession(value: unknown): value is EndedSession {
  const { sessionId, until } = (value ?? {}) as Partial<EndedSession>;
  return typeof sessionId === 'string' && Number.isFinite(until);
}
