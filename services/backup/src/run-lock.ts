import type { Database, Session } from '@taskmesh/store';
import { withDeadline } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

/** Allows one run of a kind at a time, across all instances that share our database. */
export interface RunLock {
  /**
   * Runs `work` alone. `mayGoOn` tells whether we still hold the lock, which is lost with its connection. When our
   * database is unavailable, `work` runs with `mayGoOn` false from the start.
   * @throws the error from `busy`, after `waitMs`; AppError SERVICE_UNAVAILABLE when our database has no session for it
   */
  run<Result>(waitMs: number, work: (mayGoOn: () => Promise<boolean>) => Promise<Result>): Promise<Result>;
}

export interface RunLockOptions {
  name: string;
  busy: () => Error;
}

const TRY_EVERY_MS = 200;

export function createRunLock(database: Database, { name, busy }: RunLockOptions): RunLock {
  let queue: Promise<unknown> = Promise.resolve();

  return {
    async run(waitMs, work) {
      const begin = performance.now();
      const before = queue;
      let leave: () => void = () => undefined;
      const mine = new Promise<void>((resolve) => (leave = resolve));
      queue = before.then(() => mine);
      try {
        await withDeadline(before, waitMs, busy);
        return await runAlone({ database, name, busy, waitMs: waitMs - (performance.now() - begin) }, work);
      } finally {
        leave();
      }
    },
  };
}

async function runAlone<Result>(
  { database, name, busy, waitMs }: RunLockOptions & { database: Database; waitMs: number },
  work: (mayGoOn: () => Promise<boolean>) => Promise<Result>,
): Promise<Result> {
  const session = await database.openSession().catch(async (error: unknown) => {
    if (await database.isUp()) throw error; // it only takes no more sessions: another instance may hold the lock
  });
  if (!session) return work(() => Promise.resolve(false));
  try {
    // Polls, because a waiting statement would be ended, with its connection, like one without an answer.
    const deadline = performance.now() + waitMs;
    while (!(await isTaken(session, name))) {
      if (performance.now() > deadline) throw busy();
      await sleep(TRY_EVERY_MS);
    }
    return await work(() =>
      session.run({ name: 'run-lock-held', text: 'select 1' }).then(
        () => true,
        () => false,
      ),
    );
  } finally {
    await session.close(); // releases the lock
  }
}

async function isTaken(session: Session, name: string): Promise<boolean> {
  const take = { name: 'run-lock-take', text: 'select pg_try_advisory_lock(hashtext($1)) as taken' };
  const [row] = await session.run<{ taken: boolean }>(take, [name]);
  return row?.taken === true;
}
