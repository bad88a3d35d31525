import type { Log } from '@taskmesh/service';
import type { Backup } from '../archives/archive.entity.ts';
import type { BackupService } from '../archives/archive.service.ts';
import { isInFuture } from '../clock-skew.ts';
import type { RunReports } from './run-reports.ts';
import { verifyNewBackup } from './verify-new-backup.ts';

export interface VerificationRunDeps {
  backups: Pick<BackupService, 'verify' | 'list'>;
  reports: RunReports;
  now: () => Date;
  log: Log;
}

/** Verifies the newest archive again, and the one verified longest ago, so that all have their turn. */
export function createVerificationRun({ backups, reports, now, log }: VerificationRunDeps): () => Promise<boolean> {
  const proveOne = async (archives: Backup[]): Promise<string | undefined> => {
    for (const { file } of archives) if (await verifyNewBackup(backups, file, log)) return file;
    return undefined;
  };

  return () =>
    reports.run('verification', async () => {
      const newestFirst = (await backups.list()).filter(isDue);
      const newest = await settle(proveOne(newestFirst));
      const tried = newest.value ?? newestFirst[0]?.file;
      const others = newestFirst.filter(({ file }) => file !== tried);
      const provenAt = ({ verifiedAt }: Backup) =>
        verifiedAt && !isInFuture(verifiedAt, now()) ? verifiedAt.getTime() : 0;
      const oldest = await settle(proveOne(others.toSorted((one, other) => provenAt(one) - provenAt(other))));
      for (const { failure } of [newest, oldest]) if (failure !== undefined) throw failure;
    });
}

/** Known unfit archives were reported before; unexamined files may be no archives at all. */
const isDue = ({ unfitAt, stores }: Backup): boolean => !unfitAt && stores.length > 0;

const settle = (work: Promise<string | undefined>): Promise<{ value?: string | undefined; failure?: unknown }> =>
  work.then(
    (value) => ({ value }),
    (failure: unknown) => ({ failure }),
  );
