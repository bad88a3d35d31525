import { CLOCK_SKEW_S } from '@taskmesh/identity';
import { type Clock, createPeriodic, runAllSteps, type Log } from '@taskmesh/service';
import type { HousekeepingRepository } from './housekeeping.repository.ts';

const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
/** Longer than a service may be stopped before it has erased the trail of a deleted account. */
const DELETED_SINCE_DAYS = 30;
/** Failed logins and refreshed sessions are many, and useful only for a while. */
const FREQUENT_RETENTION_DAYS = 30;

export interface HousekeepingDeps {
  repository: HousekeepingRepository;
  auditRetentionDays: number;
  clock: Clock;
  log: Log;
}

export function createHousekeeping({ repository, auditRetentionDays, clock, log }: HousekeepingDeps) {
  let isStopped = false;
  let deletedSinceDays = DELETED_SINCE_DAYS; // one after a sweep that removed what remained from earlier

  /**
   * Removes what is no longer needed, batch by batch: expired sessions with their refresh tokens, ended ones whose tokens
   * have expired, old tokens from mails, unfinished sign-ins, and entries of the audit trail that are older than its
   * retention or belong to deleted accounts.
   */
  const sweep = async () => {
    const before = (days: number) => new Date(clock.now() - days * DAY_MS);
    const removals = repository.removals({
      expired: before(0),
      old: before(auditRetentionDays),
      oldFrequent: before(Math.min(auditRetentionDays, FREQUENT_RETENTION_DAYS)),
      // A day for each statement: there may be many accounts. The clocks of other instances may be ahead.
      deleted: Array.from({ length: deletedSinceDays }, (_, ago) => [before(ago + 1), before(ago || -1)]),
    });
    const steps = removals.map((removeBatch) => async () => {
      while (!isStopped && (await removeBatch()));
    });
    deletedSinceDays = DELETED_SINCE_DAYS;
    await runAllSteps(steps);
    deletedSinceDays = 1;
  };

  /** Sweeps unless the clock is far ahead: that would delete valid rows and the audit trail. */
  const sweepIfClockIsRight = async (): Promise<void> => {
    const aheadSeconds = Math.round((clock.now() - (await repository.databaseTime())) / 1000);
    if (aheadSeconds <= CLOCK_SKEW_S) return sweep();
    deletedSinceDays = DELETED_SINCE_DAYS;
    log.error({ aheadSeconds }, 'cleared nothing: the clock is ahead of the database’s');
  };

  const periodic = createPeriodic({ everyMs: EVERY_MS, task: sweepIfClockIsRight, what: 'housekeeping', log });

  return {
    sweep,
    start: async () => periodic.start({ afterPause: true }),
    async stop() {
      isStopped = true;
      await periodic.stop();
    },
  };
}
