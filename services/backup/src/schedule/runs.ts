import { conflict, unavailable } from '@taskmesh/contracts';
import type { Service } from '@taskmesh/service';
import type { Database } from '@taskmesh/store';
import type { Backup } from '../archives/archive.entity.ts';
import { findUnfitReason, isUnverifiable } from '../archives/archive.errors.ts';
import { createBackupRepository } from '../archives/archive.repository.ts';
import type { BackupService } from '../archives/archive.service.ts';
import { isInFuture } from '../clock-skew.ts';
import type { CommonParts } from '../common-parts.ts';
import type { BackupConfig } from '../config.ts';
import { createRunLock } from '../run-lock.ts';
import { expiredArchives, type RetentionRules } from './retention.ts';
import type { RunReports } from './run-reports.ts';
import { createScheduleRepository } from './run.repository.ts';
import { createScheduler } from './scheduler.ts';

export interface SchedulesDeps extends Pick<CommonParts, 'now' | 'log'> {
  backups: BackupService;
  reports: RunReports;
  database: Database;
}

const NO_DATABASE = "Backup's own database is not available; the run begins once it is.";

/** All scheduled work shares one lock, so that a backup and a verification never run at the same time. */
export function createSchedules(config: BackupConfig, deps: SchedulesDeps): Service[] {
  const { backups, reports, database, now, log } = deps;
  const { schedule, verifySchedule, keep, verifiesScheduled } = config;

  const scheduler = (
    id: 'backup' | 'verification',
    pattern: string | undefined,
    maxAttempts: number,
    work: (isRetried: () => boolean) => Promise<boolean>,
  ): Service[] => {
    if (pattern === undefined) return [];
    const repository = createScheduleRepository(database, id);
    const lock = createRunLock(database, 'taskmesh-schedule', 'Another instance is at work.');
    const onUnavailable = (error: unknown) => reports.run(id, () => Promise.reject(unavailable(NO_DATABASE, error)));
    const on = { onUnavailable, onDoneElsewhere: () => reports.forget(id) };
    return [createScheduler({ pattern, repository, lock, work, ...on, maxAttempts, now, log })];
  };

  /**
   * Returns false if verifying needs another key, release or limit, or if the archive is still unfit.
   * @throws AppError when the archive is unfit now, or verifying failed
   */
  const verify = async ({ file, unfitAt }: Backup): Promise<boolean> => {
    try {
      await backups.verify(file, undefined, 'schedule');
      return true;
    } catch (error) {
      if (!isUnverifiable(error) && !(unfitAt && findUnfitReason(error) !== undefined)) throw error;
      log.warn({ err: error, file }, 'archive kept unverified');
      return false;
    }
  };

  /** Deletes only archives that the catalogue records as scheduled: never requested, uploaded or copied ones. */
  const deleteExpired = async (rules: RetentionRules): Promise<void> => {
    const own = (await backups.list()).filter(({ origin }) => origin === 'schedule');
    await allOf(
      expiredArchives(own, rules, now()).map(
        ({ file }) =>
          () =>
            backups.remove(file),
      ),
    );
  };

  const makeBackup = async (isRetried: () => boolean): Promise<boolean> => {
    let isMade = false;
    const createAndVerify = async () => {
      const backup = await backups.create(undefined, 'schedule');
      isMade = true;
      if (verifiesScheduled) await backups.verify(backup.file, undefined, 'schedule');
      log.info({ file: backup.file, verified: verifiesScheduled }, 'scheduled backup made');
    };
    const succeeded = await reports.run('backup', createAndVerify, () => !isMade && isRetried());
    if (isMade && keep) await reports.run('retention', () => deleteExpired(keep));
    return succeeded || isMade; // an unverified archive is not a reason to make another one
  };

  /** Verifies the newest archive again, and the one verified longest ago, so that every archive gets its turn. */
  const verifyAgain = async (): Promise<void> => {
    const stored = await backups.list();
    const newestFirst = stored.filter(isDue);
    const tried = new Set<string>();
    let hasVerified = stored.length === 0 && (await createBackupRepository(database).all()).length === 0;
    const verifyOne = async (archives: Backup[]): Promise<void> => {
      for (const archive of archives.filter(({ file }) => !tried.has(file)))
        if (tried.add(archive.file) && (await verify(archive))) return void (hasVerified = true);
    };
    const verifiedMs = ({ verifiedAt }: Backup) =>
      verifiedAt && !isInFuture(verifiedAt, now()) ? verifiedAt.getTime() : 0;
    const oldestFirst = newestFirst.toSorted((one, other) => verifiedMs(one) - verifiedMs(other));
    await allOf([() => verifyOne(newestFirst), () => verifyOne(oldestFirst)]);
    if (!hasVerified && stored.length === 0)
      throw conflict('There is no archive, though some are known: is this the right storage?');
    if (!hasVerified) throw conflict('No archive could be verified.');
  };

  return [
    ...scheduler('backup', schedule, 3, makeBackup),
    ...scheduler('verification', verifySchedule, 1, () => reports.run('verification', verifyAgain)),
  ];
}

/**
 * Excludes unexamined files, which may not be archives at all. Includes our own unfit archives: the machine may have been at
 * fault. Retention bounds their number.
 */
const isDue = ({ stores, unfitAt, origin }: Backup): boolean =>
  stores.length > 0 && (!unfitAt || origin === 'schedule');

/** Runs the steps one after the other, even after a failure. @throws the first failure */
async function allOf(steps: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
