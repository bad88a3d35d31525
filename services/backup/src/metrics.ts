import { Counter, Gauge, type Registry } from 'prom-client';
import type { BackupOrigin } from './backups/backup.entity.ts';
import type { RestoreOutcome } from './restore/restore-outcome.ts';

export type Outcome = 'ok' | 'failed';

/** backup's own figures. Few labels, never ids. */
export interface BackupMetrics {
  made(origin: BackupOrigin, figures: { at: Date; seconds: number; sizeBytes: number }): void;
  /** The newest archive that was there at the start. */
  found(at: Date, sizeBytes: number): void;
  /** When an archive was last proved before the start. */
  foundProof(at: Date): void;
  notMade(origin: BackupOrigin): void;
  /** `unfit`: a restore of the archive would fail. */
  verified(outcome: Outcome | 'unfit', at: Date): void;
  scheduleFailed(): void;
  restored(work: 'restore' | 'undo', outcome: RestoreOutcome): void;
  /** Of how many ended restores something is there that should be gone. */
  leftBehind(restores: number): void;
}

/** Without a registry the figures go nowhere. */
export function createBackupMetrics(registry: Registry | undefined): BackupMetrics {
  if (!registry) return NO_METRICS;
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name: `taskmesh_backup_${name}`, help, registers });
  const lastSuccess = gauge('last_success_timestamp_seconds', 'When the newest archive was made (Unix time)');
  const lastDuration = gauge('last_duration_seconds', 'How long it took to make the newest archive');
  const lastSize = gauge('last_size_bytes', 'Size of the newest archive');
  const lastVerified = gauge(
    'last_verified_timestamp_seconds',
    'When an archive was last proved by a restore (Unix time)',
  );
  const runs = new Counter({
    name: 'taskmesh_backup_runs_total',
    help: 'Archives made, and attempts that failed, by what asked for them',
    labelNames: ['origin', 'outcome'],
    registers,
  });
  const verifications = new Counter({
    name: 'taskmesh_backup_verifications_total',
    help: 'Verifications by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const scheduleFailures = new Counter({
    name: 'taskmesh_backup_schedule_failures_total',
    help: 'Moments of the schedule without a good archive',
    registers,
  });
  const restores = new Counter({
    name: 'taskmesh_backup_restores_total',
    help: 'Restores, and undos of one, by outcome',
    labelNames: ['work', 'outcome'],
    registers,
  });
  const left = gauge('restore_leftovers', 'Ended restores of which databases are there that should be gone');
  // A series that is there from the beginning shows its first failure as an increase.
  for (const origin of ['request', 'schedule'])
    for (const outcome of ['ok', 'failed']) runs.inc({ origin, outcome }, 0);
  for (const outcome of ['ok', 'unfit', 'failed']) verifications.inc({ outcome }, 0);
  return {
    made(origin, { at, seconds, sizeBytes }) {
      runs.inc({ origin, outcome: 'ok' });
      lastSuccess.set(at.getTime() / 1000);
      lastDuration.set(seconds);
      lastSize.set(sizeBytes);
    },
    found(at, sizeBytes) {
      lastSuccess.set(at.getTime() / 1000);
      lastSize.set(sizeBytes);
    },
    foundProof: (at) => lastVerified.set(at.getTime() / 1000),
    notMade: (origin) => runs.inc({ origin, outcome: 'failed' }),
    verified(outcome, at) {
      verifications.inc({ outcome });
      if (outcome === 'ok') lastVerified.set(at.getTime() / 1000);
    },
    scheduleFailed: () => scheduleFailures.inc(),
    restored: (work, outcome) => restores.inc({ work, outcome: labelOf(outcome) }),
    leftBehind: (count) => left.set(count),
  };
}

const labelOf = (outcome: RestoreOutcome) =>
  outcome.kind === 'restored' && outcome.isCleanUpPending ? 'clean-up-pending' : outcome.kind;

const ignore = () => undefined;

export const NO_METRICS: BackupMetrics = {
  made: ignore,
  found: ignore,
  foundProof: ignore,
  notMade: ignore,
  verified: ignore,
  scheduleFailed: ignore,
  restored: ignore,
  leftBehind: ignore,
};
