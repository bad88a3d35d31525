import type { Log } from '@taskmesh/service';
import type { BackupService } from '../archives/archive.service.ts';
import type { RunReports } from './run-reports.ts';
import { expiredArchives, type RetentionRules } from './retention.ts';
import { verifyNewBackup } from './verify-new-backup.ts';

export interface BackupRunDeps {
  backups: Pick<BackupService, 'create' | 'verify' | 'list' | 'remove'>;
  reports: RunReports;
  /** Absent: nothing is ever deleted. */
  keep: RetentionRules | undefined;
  verifies: boolean;
  now: () => Date;
  log: Log;
}

export function createBackupRun({ backups, reports, keep, verifies, now, log }: BackupRunDeps): () => Promise<boolean> {
  /** Deletes only what the catalogue knows as scheduled: never archives that were requested, uploaded, or put there. */
  const deleteExpired = async (rules: RetentionRules): Promise<void> => {
    const own = (await backups.list()).filter(({ origin }) => origin === 'schedule');
    let failure: unknown;
    for (const { file } of expiredArchives(own, rules, now()))
      await backups.remove(file).catch((error: unknown) => (failure ??= error));
    if (failure !== undefined) throw failure;
  };

  return async () => {
    let made = false;
    const succeeded = await reports.run('backup', async () => {
      const { file } = await backups.create(undefined, 'schedule');
      made = true;
      const verified = verifies && (await verifyNewBackup(backups, file, log));
      log.info({ file, verified }, 'scheduled backup made');
    });
    if (made && keep) await reports.run('retention', () => deleteExpired(keep));
    return succeeded;
  };
}
