import { asUnavailable } from '@taskmesh/database';
import type { Clock, HealthReport, Log, Service } from '@taskmesh/service';
import { createSubgraph, type Subgraph } from '@taskmesh/subgraph';
import { createBackupRepository } from './backups/backup.repository.ts';
import { createBackupService } from './backups/backup.service.ts';
import { createBackupsResolvers } from './backups/backups.resolvers.ts';
import type { BackupConfig } from './config.ts';
import { createBackupDatabase } from './database.ts';
import { readTypeDefs } from './graphql/schema.ts';
import { createDirectoryStorage } from './storage/directory-storage.ts';

export interface BackupDeps {
  clock: Clock;
  log: Log;
}

export interface Backup extends Service {
  subgraph: Subgraph;
  /** Ready when our own database answers. */
  ready(): Promise<HealthReport>;
}

/** Opens nothing yet; `start` brings the database up to date. */
export async function createBackup(config: BackupConfig, { log }: BackupDeps): Promise<Backup> {
  const database = await createBackupDatabase({ url: config.postgresUrl, log });
  const storage = createDirectoryStorage({ dir: config.backupsDir });
  const service = createBackupService({ storage, repository: createBackupRepository(database) });

  return {
    subgraph: createSubgraph({
      name: 'backup',
      typeDefs: readTypeDefs(),
      resolvers: createBackupsResolvers(service),
      mapError: asUnavailable,
      log,
    }),
    start: () => database.migrate(),
    stop: () => database.close(),
    async ready() {
      const up = await database.isUp();
      return { ok: up, checks: { database: up } };
    },
  };
}
