import { createDatabase, type Database, type StoreOptions } from '@taskmesh/store';
import { migrations } from '../migrations/index.ts';
import { BackupEntity } from './archives/archive.entity.ts';
import { RestoreEntity, VerificationEntity } from './restore/restore.entities.ts';
import { FailingRunEntity, ScheduleEntity } from './schedule/run.entities.ts';

const entities = [BackupEntity, RestoreEntity, VerificationEntity, ScheduleEntity, FailingRunEntity];
/** There are few callers, but each lock that is held or awaited takes a connection. */
const POOL_SIZE = 10;

export function createBackupDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'backup', poolSize: POOL_SIZE, ...options, entities, migrations });
}
