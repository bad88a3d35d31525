import type { Database } from '@taskmesh/database';
import type { Clock, Log } from '@taskmesh/service';
import { FORGET_CHANGES, FORGET_KEYS } from './feed.statements.ts';

const BATCH = 2_000;

export interface HousekeepingDeps {
  database: Pick<Database, 'run'>;
  changeRetentionMs: number;
  clock: Clock;
  log: Log;
}

/** Deletes expired changes and idempotency keys, in batches, so that other statements do not wait. */
export function createHousekeeping({ database, changeRetentionMs, clock, log }: HousekeepingDeps) {
  /** From the start of the log until a whole batch is recent. */
  const forgetChanges = async (): Promise<number> => {
    const kept = new Set<string>();
    let total = 0;
    let [last, goesOn] = ['0', true];
    while (goesOn) {
      const values = [changeRetentionMs, last, BATCH, [...kept]];
      const [row] = await database.run<ForgottenChanges>('write', FORGET_CHANGES, values);
      if (!row) break;
      for (const owner of row.kept) kept.add(owner);
      total += row.count;
      [last, goesOn] = [row.last, row.lookedAt === BATCH && row.old > 0];
    }
    return total;
  };

  const forgetKeys = async (): Promise<number> => {
    const now = new Date(clock.now()).toISOString();
    let total = 0;
    for (let count = BATCH; count === BATCH; total += count) {
      const [row] = await database.run<{ count: number }>('write', FORGET_KEYS, [now, BATCH]);
      count = row?.count ?? 0;
    }
    return total;
  };

  return async function housekeep(): Promise<void> {
    const changes = await forgetChanges();
    const keys = await forgetKeys();
    if (changes + keys > 0) log.debug({ changes, keys }, 'forgot what is old');
  };
}

interface ForgottenChanges extends Record<string, unknown> {
  last: string;
  lookedAt: number;
  /** How many of these are old, including those kept because of an earlier change. */
  old: number;
  /** Owners with a change that is recent or unpublished. */
  kept: string[];
  count: number;
}
