import { createPeriodic, type Clock, type Log, type Service } from '@taskmesh/service';
import type { FeedRepository } from './feed/feed.repository.ts';
import type { TaskRepository } from './tasks/task.repository.ts';
import { KEY_LIFETIME_MS } from './tasks/task.service.ts';

const EVERY_MS = 60_000;
const BATCH = 2_000;
/** So that no account fills the disk. */
const MAX_CHANGES_PER_OWNER = 50_000;
const MAX_KEYS_PER_OWNER = 10_000;
/** Only owners who added keys since then may have too many. */
const LOOK_BACK_MS = 10 * EVERY_MS;

export interface Housekeeping extends Service {
  /** Deletes changes and idempotency keys that expired or are too many, in batches, so that other statements do not wait. */
  sweep(): Promise<void>;
}

export interface HousekeepingDeps {
  feeds: Pick<FeedRepository, 'forgetChanges' | 'forgetSurplus'>;
  tasks: Pick<TaskRepository, 'forgetExpiredKeys' | 'forgetSurplusKeys'>;
  changeRetentionMs: number;
  clock: Clock;
  log: Log;
}

export function createHousekeeping(deps: HousekeepingDeps): Housekeeping {
  const { feeds, tasks, changeRetentionMs, clock, log } = deps;
  let isStopped = false;

  /** From the start of the log until a whole batch is recent. */
  const forgetChanges = async (): Promise<number> => {
    const kept = new Set<string>();
    let total = 0;
    let [last, goesOn] = ['0', true];
    while (goesOn && !isStopped) {
      const batch = await feeds.forgetChanges(changeRetentionMs, last, BATCH, [...kept]);
      if (!batch) break;
      for (const owner of batch.kept) kept.add(owner);
      total += batch.count;
      [last, goesOn] = [batch.last, batch.lookedAt === BATCH && batch.areRecent === false];
    }
    return total;
  };

  const inBatches = async (forgetBatch: () => Promise<number>): Promise<number> => {
    let total = 0;
    for (let count = BATCH; count === BATCH && !isStopped; total += count) count = await forgetBatch();
    return total;
  };

  const sweep = async () => {
    const nowMs = clock.now();
    const now = new Date(nowMs).toISOString();
    const addedLately = new Date(nowMs + KEY_LIFETIME_MS - LOOK_BACK_MS).toISOString();
    const failures: unknown[] = [];
    let forgotten = 0;
    // Each by itself: one that fails every time must not keep the others from being done.
    for (const step of [
      forgetChanges,
      () => inBatches(() => feeds.forgetSurplus(MAX_CHANGES_PER_OWNER, BATCH)),
      () => inBatches(() => tasks.forgetExpiredKeys(now, BATCH)),
      () => inBatches(() => tasks.forgetSurplusKeys(addedLately, BATCH, MAX_KEYS_PER_OWNER)),
    ])
      forgotten += await step().catch((error: unknown) => {
        failures.push(error);
        return 0;
      });
    if (forgotten > 0) log.debug({ forgotten }, 'forgot what is old');
    if (failures.length > 0) throw failures[0];
  };

  const periodic = createPeriodic({ everyMs: EVERY_MS, task: sweep, what: 'housekeeping', log });

  return {
    sweep,
    start: async () => periodic.start({ afterPause: true }),
    stop() {
      isStopped = true; // a sweep may take longer than a stop
      return periodic.stop();
    },
  };
}
