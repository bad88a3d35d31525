import type { RunningAuth } from './running-auth.ts';

/** How many sessions wait for a lock in the store. */
export async function countWaiting({ database }: RunningAuth): Promise<number> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await database.query(waiting)).length;
}
