import type { Database } from '../database/database.ts';
import type { Statement } from '../database/prepared-query.ts';
import type { Session } from '../database/session.ts';

/** After this long without a response, another instance may hold our locks, so we stop publishing. */
export const FENCE_MS = 3_000;
const PING_EVERY_MS = 1_000;
/**
 * The server ends a session that is silent for this long (a frozen process), which frees its locks. Longer than FENCE_MS.
 * Also the TCP timeout: a session whose client does not accept a response (its host is down) counts as busy, not idle.
 */
const SILENCE_S = 8;
/**
 * How long a statement may take before the server ends it, which frees the locks of a client that no longer waits.
 * Well below STOP_DEADLINE_MS, because a stopping process waits for it.
 */
export const MAX_STATEMENT_MS = 15_000;

/**
 * Such a session writes only its own progress, so commits need not wait for the disk: if the server crashes, the last
 * steps are repeated.
 */
const SETTINGS = {
  idle_session_timeout: `${SILENCE_S}s`,
  tcp_user_timeout: `${SILENCE_S}s`,
  statement_timeout: String(MAX_STATEMENT_MS),
  synchronous_commit: 'off',
};

const PING: Statement = { name: 'lock-session-ping', text: 'select 1' };

/** $1: class, $2: wanted locks. Returns the locks that are now ours. */
const CLAIM: Statement = {
  name: 'lock-session-claim',
  text: 'select lock from unnest($2::int[]) lock where pg_try_advisory_lock($1::int, lock)',
};

/**
 * Connects a session that holds advisory locks and knows whether they are certainly still ours. `monotonicMs` must advance while
 * the process is frozen.
 */
export async function openLockSession(database: Pick<Database, 'openSession'>, monotonicMs = () => performance.now()) {
  const session = await database.openSession({ settings: SETTINGS });
  let respondedAt = monotonicMs();

  /** A response proves that the locks were ours when the statement was sent. */
  const run: Session['run'] = async <Row extends Record<string, unknown>>(
    statement: Statement,
    values: unknown[] = [],
  ) => {
    const sentAt = monotonicMs();
    const rows = await session.run<Row>(statement, values);
    respondedAt = Math.max(respondedAt, sentAt);
    return rows;
  };

  const stopPinging = keepAlive(session, () => run(PING));

  return {
    lost: session.lost,
    run,
    listen: session.listen,
    /** Acquires the wanted locks that are free, and returns them. */
    async claim(lockClass: number, wanted: number[]): Promise<number[]> {
      return (await run<{ lock: number }>(CLAIM, [lockClass, wanted])).map(({ lock }) => lock);
    },
    /** Whether the locks are certainly still ours. Check it right before each publish. */
    isSafe: (): boolean => !session.lost.aborted && monotonicMs() - respondedAt < FENCE_MS,
    async close(): Promise<void> {
      stopPinging();
      await session.close();
    },
  };
}

/** Pings until the session is lost or the returned function is called. */
function keepAlive(session: Session, ping: () => Promise<unknown>): () => void {
  let isWaiting = false;
  const pinging = setInterval(() => {
    if (isWaiting) return;
    isWaiting = true;
    // A failed ping has already marked the session as lost.
    ping()
      .catch(() => undefined)
      .finally(() => (isWaiting = false));
  }, PING_EVERY_MS);
  const stop = () => clearInterval(pinging);
  session.lost.addEventListener('abort', stop);
  if (session.lost.aborted) stop(); // the session may have been lost before the listener was added
  return stop;
}
