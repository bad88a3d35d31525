import { asUnavailable, createSchemaGate, type Database } from '@taskmesh/database';
import type { BackupWork } from '@taskmesh/internal-api';
import {
  ConfigError,
  ensureWritableDirectory,
  type Clock,
  type HealthReport,
  type Log,
  type Service,
} from '@taskmesh/service';
import { createSubgraph, type Subgraph } from '@taskmesh/subgraph';
import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { archiveLimits } from './archives/limits.ts';
import { createScratch } from './archives/scratch.ts';
import { createBackupRepository } from './backups/backup.repository.ts';
import { createBackupService, type BackupService } from './backups/backup.service.ts';
import { createBackupsResolvers } from './backups/backups.resolvers.ts';
import type { BackupConfig } from './config.ts';
import { createBackupDatabase } from './database.ts';
import { createBackupMetrics, type BackupMetrics } from './metrics.ts';
import { createDumper } from './dump/dumper.ts';
import { createArchiveCipher } from './encryption/archive-cipher.ts';
import { errorMessage } from './error-code.ts';
import { readTypeDefs } from './graphql/schema.ts';
import type { Resolvers } from './graphql/types.generated.ts';
import { createBackupWork } from './operators/backup-work.ts';
import { loadLimits } from './restore/load-limits.ts';
import { RestoreBusy } from './restore/restore-busy.ts';
import { createRestoreRepository } from './restore/restore.repository.ts';
import { createRestoreResolvers } from './restore/restore.resolvers.ts';
import { createRestoreService } from './restore/restore.service.ts';
import { createSettler } from './restore/settler.ts';
import { createRunLock } from './run-lock.ts';
import { createScheduleRepository } from './schedule/schedule.repository.ts';
import { createScheduledBackups, ScheduleBusy } from './schedule/scheduled-backups.ts';
import { createScheduler } from './schedule/scheduler.ts';
import type { BackupStorage } from './storage/backup-storage.ts';
import { createDirectoryStorage } from './storage/directory-storage.ts';
import type { Store, StoreName, StoreOwner } from './stores/store.ts';
import { createVerificationRepository } from './verify/verification.repository.ts';
import { createVerifier, VerificationBusy } from './verify/verifier.ts';

export interface BackupDeps {
  clock: Clock;
  /** Names restores and archives: up to 16 letters or digits, never the same twice. @default at random */
  ids?: { next(): string };
  /** The services that own the stores; a store whose service is absent cannot be restored. */
  owners?: Partial<Record<StoreName, StoreOwner>>;
  log: Log;
  /** Absent: no figures. */
  metrics?: Registry;
}

export interface Backup extends Service {
  subgraph: Subgraph;
  /** For operators only: who calls it has checked that. */
  backups: BackupService;
  /** The same for the gateway, and restores. */
  work: BackupWork;
  /** Ready when our own database answers and has our schema. */
  ready(): Promise<HealthReport>;
}

const randomIds = { next: () => randomBytes(6).toString('hex') };

/** Opens nothing yet; `start` sees to the schema and ends what a crash left half done. */
export async function createBackup(config: BackupConfig, deps: BackupDeps): Promise<Backup> {
  const { clock, ids = randomIds, log } = deps;
  const database = await createBackupDatabase({ url: config.postgresUrl, log });
  const schema = createSchemaGate({ database, policy: config.schema, log });
  const storage = await createStorage(config, () => clock.now());
  const scratch = createScratch({ dir: config.scratchDir, now: () => clock.now() });
  const stores = createStores(config, deps);
  const cipher = await createArchiveCipher(config.secrets.keys ?? []).catch((error: unknown) => {
    throw new ConfigError([`BACKUP_KEY_FILE holds a key that is none: ${errorMessage(error)}`]);
  });
  const shared = {
    cipher,
    dump: createDumper({ pgDump: config.pgDump, log }),
    storage,
    scratch,
    stores,
    mainStore: config.restoreStore,
    archiveLimits: archiveLimits(config),
    loadLimits: loadLimits(config),
    now: () => new Date(clock.now()),
    nextId: () => ids.next(),
    log,
    metrics: createBackupMetrics(deps.metrics),
    onUnsettled: () => settler.wake(),
  };
  const verifier = createVerifier({
    ...shared,
    lock: createRunLock(database, { name: 'taskmesh-verify', busy: () => new VerificationBusy() }),
    journal: createVerificationRepository(database),
  });
  const backups = createBackupService({ ...shared, verifier, repository: createBackupRepository(database) });
  const restores = createRestoreService({
    ...shared,
    lock: createRunLock(database, { name: 'taskmesh-restore', busy: () => new RestoreBusy() }),
    journal: createRestoreRepository(database),
  });
  const settler = createSettler({
    async settle() {
      await restores.settleInterrupted();
      await verifier.settleInterrupted();
    },
    log,
  });
  const scheduler = createSchedulerOf(config, { ...shared, backups, database });
  const ofBackups = createBackupsResolvers(backups);
  const ofRestores = createRestoreResolvers(restores);
  const resolvers: Resolvers = { ...ofBackups, Mutation: { ...ofBackups.Mutation, ...ofRestores.Mutation } };

  return {
    subgraph: createSubgraph({ name: 'backup', typeDefs: readTypeDefs(), resolvers, mapError: asUnavailable, log }),
    backups,
    work: createBackupWork({ backups, restores }),
    async start() {
      ensureWritableDirectory('DATA_DIR', config.scratchDir, 0o700);
      await schema.start();
      await scratch.sweep();
      await backups.start();
      await settler.start();
      await scheduler?.start();
    },
    async stop() {
      await scheduler?.stop();
      await settler.stop();
      await schema.stop();
      await storage.close();
      await database.close();
    },
    async ready() {
      const isUp = await database.isUp();
      const isFit = schema.isOpen();
      return { ok: isUp && isFit, checks: { database: isUp, schema: isFit } };
    },
  };
}

interface SchedulerParts {
  backups: BackupService;
  database: Database;
  metrics: BackupMetrics;
  now: () => Date;
  log: Log;
}

/** Undefined without a schedule. */
function createSchedulerOf(config: BackupConfig, { backups, database, metrics, now, log }: SchedulerParts) {
  const { schedule, keep, verifiesScheduled: verifies = true } = config;
  if (schedule === undefined) return undefined;
  const scheduled = createScheduledBackups({
    backups,
    repository: createScheduleRepository(database),
    lock: createRunLock(database, { name: 'taskmesh-schedule', busy: () => new ScheduleBusy() }),
    keep,
    verifies,
    log,
  });
  return createScheduler({
    pattern: schedule,
    scheduled,
    now: () => now().getTime(),
    onFailure: () => metrics.scheduleFailed(),
    log,
  });
}

async function createStorage({ backupsDir, secrets }: BackupConfig, now: () => number): Promise<BackupStorage> {
  if (!secrets.s3) return createDirectoryStorage({ dir: backupsDir, now });
  const { createS3Storage } = await import('./storage/s3-storage.ts'); // a large library, which few need
  return createS3Storage({ location: secrets.s3, now });
}

function createStores({ secrets }: BackupConfig, { owners = {} }: BackupDeps): Record<StoreName, Store> {
  const store = (name: StoreName): Store => ({
    name,
    adminUrl: secrets.adminUrls[name],
    owner: owners[name] ?? noOwner,
  });
  return { tasks: store('tasks'), auth: store('auth') };
}

const noOwner: StoreOwner = {
  adopt: async () => ({ complete: false, reason: 'The service that owns the store is not connected.' }),
};
