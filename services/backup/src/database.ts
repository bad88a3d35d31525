import { createDatabase, type Database } from '@taskmesh/database';
import type { Log } from '@taskmesh/service';
import { Migration0001Catalogue } from '../migrations/migration-0001-catalogue.ts';
import { Migration0002Restores } from '../migrations/migration-0002-restores.ts';
import { Migration0003Verifications } from '../migrations/migration-0003-verifications.ts';
import { Migration0004Schedule } from '../migrations/migration-0004-schedule.ts';
import { Migration0005RestoreOutcomes } from '../migrations/migration-0005-restore-outcomes.ts';
import { Migration0006Proofs } from '../migrations/migration-0006-proofs.ts';
import { Migration0007Keeping } from '../migrations/migration-0007-keeping.ts';
import { Migration0008SafetyBackups } from '../migrations/migration-0008-safety-backups.ts';
import { Migration0009UnfitReasons } from '../migrations/migration-0009-unfit-reasons.ts';
import { BackupEntity } from './backups/backup.entity.ts';
import { FailingRunEntity } from './notify/failing-run.entity.ts';
import { RestoreEntity } from './restore/restore.entity.ts';
import { ScheduleEntity } from './schedule/schedule.entity.ts';
import { BucketUploadEntity } from './storage/bucket-upload.entity.ts';
import { VerificationEntity } from './verify/verification.entity.ts';

export function createBackupDatabase({ url, log }: { url: string; log: Log }): Promise<Database> {
  return createDatabase({
    name: 'backup',
    url,
    entities: [BackupEntity, RestoreEntity, VerificationEntity, ScheduleEntity, FailingRunEntity, BucketUploadEntity],
    migrations: [
      { name: '0001-catalogue', class: Migration0001Catalogue },
      { name: '0002-restores', class: Migration0002Restores },
      { name: '0003-verifications', class: Migration0003Verifications },
      { name: '0004-schedule', class: Migration0004Schedule },
      { name: '0005-restore-outcomes', class: Migration0005RestoreOutcomes },
      { name: '0006-proofs', class: Migration0006Proofs },
      { name: '0007-keeping', class: Migration0007Keeping },
      { name: '0008-safety-backups', class: Migration0008SafetyBackups },
      { name: '0009-unfit-reasons', class: Migration0009UnfitReasons },
    ],
    poolSize: 10, // few callers, but each lock that is held or waited for takes a connection
    log,
  });
}
