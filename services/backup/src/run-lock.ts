import { withDeadline } from '@taskmesh/service';
import type { Database, Session } from '@taskmesh/store';
import { setTimeout as sleep } from 'node:timers/promises';

type Work<Result> = (mayGoOn: () => Promise<boolean>) => Promise<Result>;

/** Allows one run of a kind at a time, across all instances that share our database. */
export interface RunLock {
  /**
   * Runs `work` alone. `mayGoOn` reports whether we still hold the lock, which is lost with its connection. When our
   * database is unavailable, `work` runs with `mayGoOn` false from the start.
   * @throws LockBusyError after `waitMs`; AppError SERVICE_UNAVAILABLE when our database has no session for it
   */
  run<Result>(waitMs: number, work: Work<Result>): Promise<Result>;
}

/** Somebody else holds the lock. The message is for the caller. */
export class LockBusyError extends Error {
  override readonly name = 'LockBusyError';
}

const TRY_EVERY_MS = 200;

/** `busy`: what to say when somebody else holds it. */
export function createRunLock(database: Database, name: string, busy: string): RunLock {
  let queue: Promise<unknown> = Promise.resolve();

  /** @throws LockBusyError at the deadline */
  const runAlone = async <Result>(deadline: number, work: Work<Result>): Promise<Result> => {
    const session = await database.openSession().catch(async (error: unknown) => {
      if (await database.isUp()) throw error; // it only takes no more sessions: another instance may hold the lock
    });
    if (!session) return work(() => Promise.resolve(false));
    try {
      // Polls, because a waiting statement would be ended, with its connection, like one without an answer.
      while (!(await isTaken(session, name))) {
        if (performance.now() > deadline) throw new LockBusyError(busy);
        await sleep(TRY_EVERY_MS);
      }
      const held = { name: 'run-lock-held', text: 'select 1' };
      return await work(() =>
        session.run(held).then(
          () => true,
          () => false,
        ),
      );
    } finally {
      await session.close(); // releases the lock
    }
  };

  return {
    async run(waitMs, work) {
      const begin = performance.now();
      const before = queue;
      let leave: () => void = () => undefined;
      const mine = new Promise<void>((resolve) => (leave = resolve));
      queue = before.then(() => mine);
      try {
        await withDeadline(before, waitMs, () => new LockBusyError(busy));
        return await runAlone(begin + waitMs, work);
      } finally {
        leave();
      }
    },
  };
}

async function isTaken(session: Session, name: string): Promise<boolean> {
  const take = { name: 'run-lock-take', text: 'select pg_try_advisory_lock(hashtext($1)) as taken' };
  const [row] = await session.run<{ taken: boolean }>(take, [name]);
  return row?.taken === true;
}
