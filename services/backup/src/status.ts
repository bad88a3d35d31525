import {
  STATUS_PART_MS,
  type BackupsStatus,
  type BackupStatus,
  type KnownArchive,
  type ScheduleStatus,
  type StatusOf,
} from '@taskmesh/internal-api';
import { createTimedQuery, type Clock } from '@taskmesh/service';
import { createServiceStatus, type Database } from '@taskmesh/store';
import { isOwn, type Backup } from './archives/archive.entity.ts';
import type { BackupService } from './archives/archive.service.ts';
import { toBackupEntry } from './graphql/backup.resolvers.ts';
import { isInFuture } from './clock-skew.ts';
import type { BackupConfig } from './config.ts';
import type { RestoreService } from './restore/restore.service.ts';
import type { FailingRun, RunName } from './schedule/run.entities.ts';
import { createFailingRunRepository } from './schedule/run.repository.ts';
import { nextMoment } from './schedule/scheduler.ts';

export interface BackupStatusDeps {
  backups: Pick<BackupService, 'known'>;
  restores: Pick<RestoreService, 'undoable'>;
  database: Database;
  encrypts: boolean;
  clock: Clock;
}

export function createBackupStatus(config: BackupConfig, deps: BackupStatusDeps): StatusOf<BackupStatus> {
  const { backups, restores, database, encrypts, clock } = deps;
  const { schedule, verifySchedule, verifiesScheduled, keep, keepOldMs, secrets } = config;
  const failing = createFailingRunRepository(database);
  const queryService = createServiceStatus(deps, STATUS_PART_MS);
  const queryArchives = createTimedQuery(STATUS_PART_MS, () => backups.known());
  const queryFailing = createTimedQuery(STATUS_PART_MS, () => failing.all());
  const queryUndoable = createTimedQuery(STATUS_PART_MS, () => restores.undoable());

  const scheduleOf = (pattern: string | undefined, runs: FailingRun[], names: RunName[]): ScheduleStatus | null => {
    if (pattern === undefined) return null;
    const since = runs.filter(({ run }) => names.includes(run)).map((run) => run.since.toISOString());
    const nextAt = nextMoment(pattern, new Date(clock.now()))?.toISOString() ?? null;
    return { pattern, nextAt, failingSince: since.toSorted()[0] ?? null };
  };

  return {
    async status() {
      const results = [queryService(), queryArchives(), queryFailing(), queryUndoable()] as const;
      const [service, archives, runs = [], undoable] = await Promise.all(results);
      return {
        ...service,
        backups: {
          place: secrets.s3 ? 'bucket' : 'directory',
          isEncrypted: encrypts,
          archives: archives ? summaryOf(archives, new Date(clock.now())) : null,
          schedule: scheduleOf(schedule, runs, ['backup', 'retention']),
          verifySchedule: scheduleOf(verifySchedule, runs, ['verification']),
          verifiesScheduled,
          keep: keep ?? null,
          undoableMs: keepOldMs,
          ...(undoable !== undefined && { undoable }),
        },
      };
    },
  };
}

/** Counts like the metrics: only archives that we made, and none dated in the future, can be the newest. */
function summaryOf(archives: Backup[], now: Date): NonNullable<BackupsStatus['archives']> {
  const own = archives.filter(({ origin, createdAt }) => isOwn(origin) && !isInFuture(createdAt, now));
  return {
    count: archives.length,
    totalBytes: archives.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    newest: toKnownArchive(own.find(({ unfitAt }) => !unfitAt)),
    newestProved: toKnownArchive(own.find(({ verifiedAt }) => verifiedAt)),
  };
}

function toKnownArchive(backup: Backup | undefined): KnownArchive | null {
  if (!backup) return null;
  const { file, createdAt, sizeBytes, verifiedAt } = toBackupEntry(backup);
  return { file, createdAt, sizeBytes, verifiedAt };
}
