import type { Database, Statement } from '@taskmesh/database';
import type { Clock, Log } from '@taskmesh/service';
import { FORGET_CHANGES, FORGET_KEYS } from './feed.statements.ts';

const BATCH = 2_000;

export interface HousekeepingDeps {
  database: Pick<Database, 'run'>;
  changeRetentionMs: number;
  clock: Clock;
  log: Log;
}

/** Forgets what is older than it has to be: published changes, and keys of creates. In batches, so that nobody waits. */
export function createHousekeeping({ database, changeRetentionMs, clock, log }: HousekeepingDeps) {
  const forget = async (statement: Statement, beforeMs: number): Promise<number> => {
    let total = 0;
    for (let count = BATCH; count === BATCH; total += count) {
      const values = [new Date(beforeMs).toISOString(), BATCH];
      const [row] = await database.run<{ count: number }>('write', statement, values);
      count = row?.count ?? 0;
    }
    return total;
  };

  return async function housekeep(): Promise<void> {
    const changes = await forget(FORGET_CHANGES, clock.now() - changeRetentionMs);
    const keys = await forget(FORGET_KEYS, clock.now());
    if (changes + keys > 0) log.debug({ changes, keys }, 'forgot what is old');
  };
}
