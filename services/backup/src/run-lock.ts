import { LIFT_LIMITS, type Database } from '@taskmesh/database';
import { withDeadline } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';

/** Allows one run of a kind at a time, across all instances that share our database. */
export interface RunLock {
  /**
   * Runs `work` alone. `mayGoOn` tells whether we still hold the lock, which is lost with its connection. When our
   * database is unavailable, `work` runs with `mayGoOn` false from the start.
   * @throws the error from `busy`, after `waitMs`
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
  const client = await connect(database);
  if (!client) return work(() => Promise.resolve(false));
  try {
    await client.query(LIFT_LIMITS); // it is idle for as long as the work lasts
    // Polls, because a waiting statement would be ended, with its connection, like one without an answer.
    const deadline = performance.now() + waitMs;
    while (!(await isTaken(client, name))) {
      if (performance.now() > deadline) throw busy();
      await sleep(TRY_EVERY_MS);
    }
    return await work(() =>
      client.query('select 1').then(
        () => true,
        () => false,
      ),
    );
  } finally {
    client.release(true); // ending the session releases the lock in any case
  }
}

async function isTaken(client: PoolClient, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtext($1)) as taken';
  const { rows } = await client.query<{ taken: boolean }>(text, [name]);
  return rows[0]?.taken === true;
}

/** Undefined when our database is unavailable. */
async function connect(database: Database) {
  try {
    const client = await database.pool.connect();
    client.on('error', () => undefined); // the next query finds out
    return client;
  } catch {
    return undefined;
  }
}
