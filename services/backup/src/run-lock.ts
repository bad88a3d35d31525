import type { Database } from '@taskmesh/database';
import { errorCode } from './error-code.ts';

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

const LOCK_NOT_AVAILABLE = '55P03';

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
        await inTime(before, waitMs, busy);
        return await alone({ database, name, busy, waitMs: waitMs - (performance.now() - begin) }, work);
      } finally {
        leave();
      }
    },
  };
}

/** Resolves with `promise`, which does not reject. */
async function inTime(promise: Promise<unknown>, waitMs: number, busy: () => Error): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(busy()), waitMs);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function alone<Result>(
  { database, name, busy, waitMs }: RunLockOptions & { database: Database; waitMs: number },
  work: (mayGoOn: () => Promise<boolean>) => Promise<Result>,
): Promise<Result> {
  const client = await connected(database);
  if (!client) return work(() => Promise.resolve(false));
  try {
    await client.query('set statement_timeout = 0'); // the pool's limit is as long as the wait
    await client.query(`set lock_timeout = ${Math.max(1, Math.floor(waitMs))}`);
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    await client.query('set lock_timeout = 0');
    return await work(() =>
      client.query('select 1').then(
        () => true,
        () => false,
      ),
    );
  } catch (error) {
    throw errorCode(error) === LOCK_NOT_AVAILABLE ? busy() : error;
  } finally {
    client.release(true); // the session's end gives the lock back, whatever state it is in
  }
}

/** Undefined when our database is away. */
async function connected(database: Database) {
  try {
    const client = await (await database.pool()).connect();
    client.on('error', () => undefined); // found out by the next query
    return client;
  } catch {
    return undefined;
  }
}
