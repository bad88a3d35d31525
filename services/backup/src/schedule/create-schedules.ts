import type { Database } from '@taskmesh/store';
import type { Log, Service } from '@taskmesh/service';
import type { BackupService } from '../archives/archive.service.ts';
import type { BackupConfig } from '../config.ts';
import type { RunReports } from './run-reports.ts';
import { createRunLock } from '../run-lock.ts';
import { createBackupRun } from './backup-run.ts';
import { createScheduleRepository } from './schedule.repository.ts';
import { createScheduledRun, ScheduleBusy } from './scheduled-run.ts';
import { createScheduler } from './scheduler.ts';
import { createVerificationRun } from './verification-run.ts';

export interface SchedulesDeps {
  backups: BackupService;
  reports: RunReports;
  database: Database;
  now: () => Date;
  log: Log;
}

/** All scheduled work shares one lock, so that a backup and a verification never run at the same time. */
export function createSchedules(config: BackupConfig, deps: SchedulesDeps): Service[] {
  const { database, now, log } = deps;
  const { schedule, verifySchedule, keep, verifiesScheduled: verifies } = config;
  const scheduler = (id: string, pattern: string, work: () => Promise<boolean>) =>
    createScheduler({
      pattern,
      scheduled: createScheduledRun({
        repository: createScheduleRepository(database, id),
        lock: createRunLock(database, { name: 'taskmesh-schedule', busy: () => new ScheduleBusy() }),
        work,
        now,
        log,
      }),
      now: () => now().getTime(),
      log,
    });
  return [
    ...(schedule === undefined ? [] : [scheduler('backup', schedule, createBackupRun({ ...deps, keep, verifies }))]),
    ...(verifySchedule === undefined ? [] : [scheduler('verification', verifySchedule, createVerificationRun(deps))]),
  ];
}
