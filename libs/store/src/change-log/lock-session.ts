import type { Database } from '../database/database.ts';
import type { Statement } from '../database/prepared-query.ts';
import type { Session } from '../database/session.ts';

/** After this long without an answer, another instance may hold our locks, so we stop publishing. */
export const FENCE_MS = 3_000;
const PING_EVERY_MS = 1_000;
/**
 * The server ends a session silent for this long (a frozen process) and so frees its locks. Longer than FENCE_MS. The same
 * for one that does not take its answer, which counts as busy, not as idle: also when its host or the way to it is gone.
 */
const SILENCE_S = 8;

/**
 * What such a session writes says only what it has done. It does not wait until that is on the disk: if the server dies,
 * the last of it is done again.
 */
const SETTINGS = {
  idle_session_timeout: `${SILENCE_S}s`,
  tcp_user_timeout: `${SILENCE_S}s`,
  synchronous_commit: 'off',
};

const PING: Statement = { name: 'lock-session-ping', text: 'select 1' };

/** $1: class, $2: wanted locks. Returns those that are now ours. */
const CLAIM: Statement = {
  name: 'lock-session-claim',
  text: 'select lock from unnest($2::int[]) lock where pg_try_advisory_lock($1::int, lock)',
};

/**
 * A session that holds advisory locks, and knows whether they are certainly still ours. Connects. `monotonicMs` must advance while the
 * process is frozen.
 */
export async function openLockSession(database: Pick<Database, 'openSession'>, monotonicMs = () => performance.now()) {
  const session = await database.openSession({ settings: SETTINGS });
  let answeredAt = monotonicMs();

  /** An answer proves that the locks were ours when the statement was sent. */
  const run: Session['run'] = async <Row extends Record<string, unknown>>(
    statement: Statement,
    values: unknown[] = [],
  ) => {
    const askedAt = monotonicMs();
    const rows = await session.run<Row>(statement, values);
    answeredAt = Math.max(answeredAt, askedAt);
    return rows;
  };

  const stopPinging = keepAlive(session, () => run(PING));

  return {
    lost: session.lost,
    run,
    listen: session.listen,
    /** Takes the wanted locks that are free, and returns them. */
    async claim(lockClass: number, wanted: number[]): Promise<number[]> {
      return (await run<{ lock: number }>(CLAIM, [lockClass, wanted])).map(({ lock }) => lock);
    },
    /** Whether the locks are certainly still ours. Check it right before each publish. */
    isSafe: (): boolean => !session.lost.aborted && monotonicMs() - answeredAt < FENCE_MS,
    async close(): Promise<void> {
      stopPinging();
      await session.close();
    },
  };
}

/** Pings until the session is lost or the returned function is called. */
function keepAlive(session: Session, ping: () => Promise<unknown>): () => void {
  let waiting = false;
  const pinging = setInterval(() => {
    if (waiting) return;
    waiting = true;
    // A failed ping has already marked the session as lost.
    ping()
      .catch(() => undefined)
      .finally(() => (waiting = false));
  }, PING_EVERY_MS);
  const stop = () => clearInterval(pinging);
  session.lost.addEventListener('abort', stop);
  if (session.lost.aborted) stop(); // as the first answer and the end may come at once
  return stop;
}
