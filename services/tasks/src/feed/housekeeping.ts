import type { Clock, Log } from '@taskmesh/service';
import type { FeedRepository } from './feed.repository.ts';

const BATCH = 2_000;

export interface HousekeepingDeps {
  repository: Pick<FeedRepository, 'forgetChanges' | 'forgetKeys'>;
  changeRetentionMs: number;
  clock: Clock;
  log: Log;
}

/** Deletes expired changes and idempotency keys, in batches, so that other statements do not wait. */
export function createHousekeeping({ repository, changeRetentionMs, clock, log }: HousekeepingDeps) {
  /** From the start of the log until a whole batch is recent. */
  const forgetChanges = async (): Promise<number> => {
    const kept = new Set<string>();
    let total = 0;
    let [last, goesOn] = ['0', true];
    while (goesOn) {
      const batch = await repository.forgetChanges(changeRetentionMs, last, BATCH, [...kept]);
      if (!batch) break;
      for (const owner of batch.kept) kept.add(owner);
      total += batch.count;
      [last, goesOn] = [batch.last, batch.lookedAt === BATCH && batch.old > 0];
    }
    return total;
  };

  const forgetKeys = async (): Promise<number> => {
    const now = new Date(clock.now()).toISOString();
    let total = 0;
    for (let count = BATCH; count === BATCH; total += count) count = await repository.forgetKeys(now, BATCH);
    return total;
  };

  return async function housekeep(): Promise<void> {
    const changes = await forgetChanges();
    const keys = await forgetKeys();
    if (changes + keys > 0) log.debug({ changes, keys }, 'forgot what is old');
  };
}
