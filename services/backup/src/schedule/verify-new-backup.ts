import type { Log } from '@taskmesh/service';
import type { BackupService } from '../archives/archive.service.ts';
import { isUnprovable } from '../restore/verify.errors.ts';

/** False if the archive's key is not available here. @throws AppError when it is unfit or was not verified */
export async function verifyNewBackup(
  backups: Pick<BackupService, 'verify'>,
  file: string,
  log: Log,
): Promise<boolean> {
  try {
    await backups.verify(file, undefined, 'schedule');
    return true;
  } catch (error) {
    if (!isUnprovable(error)) throw error;
    log.warn({ err: error, file }, 'archive kept unproved');
    return false;
  }
}
