import { withDeadline } from '@taskmesh/service';
import type { Database, Session } from '@taskmesh/store';
import { setTimeout as sleep } from 'node:timers/promises';

type Work<Result> = (mayContinue: () => Promise<boolean>) => Promise<Result>;

/** Allows one run of a kind at a time, across all instances that share our database. */
export type RunLock = ReturnType<typeof createRunLock>;

/** Someone else holds the lock. The message is for the caller. */
export class LockBusyError extends Error {
  override readonly name = 'LockBusyError';
}

const TRY_EVERY_MS = 200;
/** Frees the lock of a host that is lost while it gets a response, which TCP would otherwise repeat for a quarter of an hour. */
const SETTINGS = { tcp_user_timeout: '30s' };

/** `busyMessage` is the message when someone else holds the lock. */
export function createRunLock(database: Database, name: string, busyMessage: string) {
  let queue: Promise<unknown> = Promise.resolve();

  /** @throws LockBusyError at the deadline */
  const runAlone = async <Result>(deadline: number, work: Work<Result>): Promise<Result> => {
    const session = await database.openSession({ settings: SETTINGS }).catch(async (error: unknown) => {
      if (await database.isUp()) throw error; // it only refuses more sessions: another instance may hold the lock
    });
    if (!session) return work(() => Promise.resolve(false));
    try {
      // Polls, because a statement that waits too long would be ended, with its connection, as if the server did not respond.
      while (!(await tryAcquire(session, name))) {
        if (performance.now() > deadline) throw new LockBusyError(busyMessage);
        await sleep(TRY_EVERY_MS);
      }
      const check = { name: 'run-lock-held', text: 'select 1' };
      return await work(() =>
        session.run(check).then(
          () => true,
          () => false,
        ),
      );
    } finally {
      await session.close(); // releases the lock
    }
  };

  return {
    /**
     * Runs `work` exclusively. `mayContinue` reports whether we still hold the lock, which is lost with its connection. If our
     * database is down, `work` still runs, but `mayContinue` is false from the start.
     * @throws LockBusyError after `waitMs`; AppError SERVICE_UNAVAILABLE when our database is up but accepts no session
     */
    async run<Result>(waitMs: number, work: Work<Result>) {
      const begin = performance.now();
      const before = queue;
      let endTurn: () => void = () => undefined;
      const turn = new Promise<void>((resolve) => (endTurn = resolve));
      queue = before.then(() => turn);
      try {
        await withDeadline(before, waitMs, () => new LockBusyError(busyMessage));
        return await runAlone(begin + waitMs, work);
      } finally {
        endTurn();
      }
    },
  };
}

async function tryAcquire(session: Session, name: string): Promise<boolean> {
  const statement = { name: 'run-lock-take', text: 'select pg_try_advisory_lock(hashtext($1)) as taken' };
  const [row] = await session.run<{ taken: boolean }>(statement, [name]);
  return row?.taken === true;
}
