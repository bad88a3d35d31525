import type { RestoreEnd } from '@taskmesh/internal-api';
import { createMeters } from '@taskmesh/service';
import type { Registry } from 'prom-client';
import { isOwn, type Backup, type BackupOrigin } from './archives/archive.entity.ts';
import { FAILURE_REASONS, type FailureReason } from './archives/archive.errors.ts';
import { isInFuture } from './clock-skew.ts';
import type { RunName } from './schedule/run.entities.ts';

export type Outcome = 'ok' | 'failed';

export type BackupMetrics = ReturnType<typeof createBackupMetrics>;

/** Labels have few values and never contain ids. */
export function createBackupMetrics(registry: Registry) {
  const meters = createMeters(registry);
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    meters.counter(`taskmesh_backup_${name}_total`, help, ...labelNames);
  const gauge = (name: string, help: string) => meters.gauge(`taskmesh_backup_${name}`, help);
  const lastProved = gauge(
    'last_proved_timestamp_seconds',
    'When the newest verified archive was made (Unix time); 0: there is none',
  );
  const lastSuccess = gauge(
    'last_success_timestamp_seconds',
    'When the newest archive that is not known to be unfit was made (Unix time)',
  );
  const lastDuration = gauge('last_duration_seconds', 'How long it took to make the newest archive');
  const lastSize = gauge('last_size_bytes', 'Size of the newest archive');
  const lastVerified = gauge('last_verified_timestamp_seconds', 'When an archive was last verified (Unix time)');
  const runs = counter('runs', 'Archives made, and failed attempts, by origin', 'origin', 'outcome');
  const verifications = counter('verifications', 'Verifications by outcome', 'outcome');
  const scheduleFailures = counter(
    'schedule_failures',
    'Scheduled runs that failed; backup: a moment without a good archive',
    'run',
  );
  const failures = counter('failures', 'Archives that were not made, by reason', 'reason');
  const restores = counter('restores', 'Restores, and undos of one, by outcome', 'work', 'outcome');
  const unsettled = gauge('restores_unsettled', 'Interrupted restores: stores may be closed until they are settled');
  const leftovers = gauge('restore_leftovers', 'Ended restores whose leftover databases still exist');
  // Unread gauges must be absent: 0 would say that there is none.
  for (const unread of [lastProved, lastSuccess, lastDuration, lastSize, lastVerified, unsettled, leftovers])
    unread.remove();
  // Series must exist from the start, so that their first failure shows as an increase.
  for (const origin of ['request', 'safety', 'schedule'])
    for (const outcome of ['ok', 'failed']) runs.inc({ origin, outcome }, 0);
  for (const outcome of ['ok', 'unfit', 'unprovable', 'failed']) verifications.inc({ outcome }, 0);
  for (const reason of FAILURE_REASONS) failures.inc({ reason }, 0);
  for (const work of ['restore', 'undo'])
    for (const outcome of ['restored', 'failed', 'unknown']) restores.inc({ work, outcome }, 0);
  for (const run of ['backup', 'verification', 'retention']) scheduleFailures.inc({ run }, 0);
  return {
    made(origin: BackupOrigin, seconds: number): void {
      runs.inc({ origin, outcome: 'ok' });
      lastDuration.set(seconds);
    },
    notMade(origin: BackupOrigin, reason: FailureReason): void {
      runs.inc({ origin, outcome: 'failed' });
      failures.inc({ reason });
    },
    /** `backups`: the existing archives, newest first. No metric is later than `now`. */
    archives(backups: Backup[], now: Date): void {
      const own = backups.filter(({ origin, createdAt }) => isOwn(origin) && !isInFuture(createdAt, now));
      const secondsOf = (date: Date | null | undefined) =>
        date && !isInFuture(date, now) ? Math.min(date.getTime(), now.getTime()) / 1000 : 0;
      const newest = own.find(({ unfitAt }) => !unfitAt);
      lastSuccess.set(secondsOf(newest?.createdAt));
      lastSize.set(Number(newest?.sizeBytes ?? 0));
      lastProved.set(secondsOf(own.find(({ verifiedAt }) => verifiedAt)?.createdAt));
      lastVerified.set(Math.max(0, ...backups.map(({ verifiedAt }) => secondsOf(verifiedAt))));
    },
    /** `unfit`: a restore of the archive would fail; `unprovable`: its key is not available. */
    verified: (outcome: Outcome | 'unfit' | 'unprovable'): void => verifications.inc({ outcome }),
    scheduleFailed: (run: RunName): void => scheduleFailures.inc({ run }),
    restored: (work: 'restore' | 'undo', outcome: RestoreEnd['outcome']): void =>
      restores.inc({ work, outcome: outcome.toLowerCase().replaceAll('_', '-') }),
    /** The number of interrupted restores whose stores may be closed until they are settled. */
    unsettled: (count: number): void => unsettled.set(count),
    /** The number of finished restores with databases that should no longer exist. */
    leftBehind: (count: number): void => leftovers.set(count),
  };
}
