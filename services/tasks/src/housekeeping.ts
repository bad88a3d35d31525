import { createPeriodic, runAllSteps, type Clock, type Log } from '@taskmesh/service';
import type { FeedRepository } from './feed/feed.repository.ts';
import type { TaskRepository } from './tasks/task.repository.ts';
import { KEY_LIFETIME_MS } from './tasks/task.service.ts';

const EVERY_MS = 60_000;
const BATCH = 2_000;
/** Prevents a single account from filling the disk. */
const MAX_CHANGES_PER_OWNER = 50_000;
const MAX_KEYS_PER_OWNER = 10_000;
/** Only owners who added keys within this time can have too many. */
const LOOK_BACK_MS = 10 * EVERY_MS;
/** Few, because all of their keys are read. */
const OWNERS_PER_STATEMENT = 20;

export interface HousekeepingDeps {
  feeds: Pick<FeedRepository, 'forgetChanges' | 'forgetSurplus'>;
  tasks: Pick<TaskRepository, 'forgetExpiredKeys' | 'ownersWithKeys' | 'forgetSurplusKeys'>;
  changeRetentionMs: number;
  clock: Clock;
  log: Log;
}

export function createHousekeeping({ feeds, tasks, changeRetentionMs, clock, log }: HousekeepingDeps) {
  let isStopped = false;

  /** Deletes from the start of the log until a whole batch is recent. */
  const forgetChanges = async (): Promise<number> => {
    const kept = new Set<string>();
    let total = 0;
    let [last, hasMore] = ['0', true];
    while (hasMore && !isStopped) {
      const batch = await feeds.forgetChanges(changeRetentionMs, last, BATCH, [...kept]);
      if (!batch) break;
      for (const owner of batch.kept) kept.add(owner);
      total += batch.count;
      [last, hasMore] = [batch.last, batch.examined === BATCH && batch.areRecent === false];
    }
    return total;
  };

  const inBatches = async (forgetBatch: () => Promise<number>): Promise<number> => {
    let total = 0;
    for (let count = BATCH; count === BATCH && !isStopped; total += count) count = await forgetBatch();
    return total;
  };

  /** Deletes expired and surplus changes and idempotency keys, in batches, so that other statements do not wait. */
  const sweep = async () => {
    const nowMs = clock.now();
    const now = new Date(nowMs).toISOString();
    const addedLately = new Date(nowMs + KEY_LIFETIME_MS - LOOK_BACK_MS).toISOString();
    let [changes, keys] = [0, 0];
    await runAllSteps([
      async () => (changes += await forgetChanges()),
      async () => (changes += await inBatches(() => feeds.forgetSurplus(MAX_CHANGES_PER_OWNER, BATCH))),
      async () => (keys += await inBatches(() => tasks.forgetExpiredKeys(now, BATCH))),
      async () => {
        const owners = await tasks.ownersWithKeys(addedLately);
        const steps: (() => Promise<unknown>)[] = [];
        while (owners.length > 0) {
          const batch = owners.splice(0, OWNERS_PER_STATEMENT);
          const forgetBatch = () => tasks.forgetSurplusKeys(batch, BATCH, MAX_KEYS_PER_OWNER);
          steps.push(async () => (keys += await inBatches(forgetBatch)));
        }
        await runAllSteps(steps);
      },
    ]);
    if (changes + keys > 0) log.debug({ changes, keys }, 'deleted expired changes and keys');
  };

  const periodic = createPeriodic({ everyMs: EVERY_MS, task: sweep, what: 'housekeeping', log });

  return {
    sweep,
    start: async () => periodic.start({ afterPause: true }),
    stop() {
      isStopped = true; // a sweep may take longer than the stop is allowed to
      return periodic.stop();
    },
  };
}
