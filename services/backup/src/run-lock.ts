import type { Database } from '@taskmesh/database';
import { withDeadline } from '@taskmesh/service';
import { setTimeout as pause } from 'node:timers/promises';
import type { PoolClient } from 'pg';

/** One run of a kind at a time, of all instances that share our database. */
export interface RunLock {
  /**
   * Runs `work` alone. `mayGoOn` says whether the lock is still ours: a lost connection loses it. When our database is away,
   * `work` runs with `mayGoOn` false from the beginning.
   * @throws what `busy` makes, after `waitMs`
   */
  run<Result>(waitMs: number, work: (mayGoOn: () => Promise<boolean>) => Promise<Result>): Promise<Result>;
}

export interface RunLockOptions {
  /** Of all who share our database. */
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
  const client = await connect(database);
  if (!client) return work(() => Promise.resolve(false));
  try {
    // Asked for again and again: a statement that waits is cut off with its connection, as one that gets no answer.
    const deadline = performance.now() + waitMs;
    while (!(await isTaken(client, name))) {
      if (performance.now() > deadline) throw busy();
      await pause(TRY_EVERY_MS);
    }
    return await work(() =>
      client.query('select 1').then(
        () => true,
        () => false,
      ),
    );
  } finally {
    client.release(true); // the session's end gives the lock back, whatever state it is in
  }
}

async function isTaken(client: PoolClient, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtext($1)) as taken';
  const { rows } = await client.query<{ taken: boolean }>(text, [name]);
  return rows[0]?.taken === true;
}

/** Undefined when our database is away. */
async function connect(database: Database) {
  try {
    const client = await database.pool.connect();
    client.on('error', () => undefined); // found out by the next query
    return client;
  } catch {
    return undefined;
  }
}
