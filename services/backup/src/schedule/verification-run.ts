import type { Log } from '@taskmesh/service';
import type { Backup } from '../backups/backup.entity.ts';
import type { BackupService } from '../backups/backup.service.ts';
import type { RunReports } from '../notify/run-reports.ts';
import { isUnprovable } from '../verify/verify.errors.ts';

export interface VerificationRunDeps {
  backups: Pick<BackupService, 'verify' | 'list'>;
  reports: RunReports;
  log: Log;
}

/** Proves the newest archive again, and the one whose last proof is the oldest: so all of them have their turn. */
export function createVerificationRun({ backups, reports, log }: VerificationRunDeps): () => Promise<boolean> {
  const prove = async (file: string): Promise<void> => {
    try {
      await backups.verify(file);
    } catch (error) {
      if (!isUnprovable(error)) throw error;
      log.warn({ err: error, file }, 'archive kept unproved');
    }
  };

  return () =>
    reports.run('verification', async () => {
      let failure: unknown;
      for (const { file } of due(await backups.list()))
        await prove(file).catch((error: unknown) => (failure ??= error));
      if (failure !== undefined) throw failure;
    });
}

/** Of those that are newest first; what is known to be unfit was told of before. */
export function due(newestFirst: Backup[]): Backup[] {
  const fit = newestFirst.filter(({ unfitAt }) => !unfitAt);
  const provedAt = ({ verifiedAt }: Backup) => verifiedAt?.getTime() ?? 0;
  const oldest = fit.toSorted((one, other) => provedAt(one) - provedAt(other));
  return [...new Set([...fit.slice(0, 1), ...oldest.slice(0, 1)])];
}
