import type { Pool } from 'pg';

/** Runs `work` while this session alone, of all that use the same name on this database, holds the lock. Waits for it. */
export async function withAdvisoryLock<Result>(pool: Pool, name: string, work: () => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    // The wait for another instance's migration may be long; the pool's limit is for requests.
    await client.query('set statement_timeout = 0');
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    return await work();
  } finally {
    // Ending the session gives the lock back, whatever state the session is in.
    client.release(true);
  }
}
