import { createSubgraph, readTypeDefs } from '@taskmesh/internal-api';
import {
  closeOnStop,
  ConfigError,
  createPeriodic,
  ensureWritableDirectory,
  inOrder,
  readVersion,
  settleAll,
  startAll,
  type Clock,
  type Log,
} from '@taskmesh/service';
import { asUnavailable, createSchemaGate, storeHealth } from '@taskmesh/store';
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { createBackupRepository } from './archives/archive.repository.ts';
import { createBackupService } from './archives/archive.service.ts';
import { createCipher } from './archives/encryption.ts';
import { archiveLimits } from './archives/limits.ts';
import { createBackupWork } from './backup-work.ts';
import type { CommonParts } from './common-parts.ts';
import type { BackupConfig } from './config.ts';
import { createBackupDatabase } from './database.ts';
import { refuseUnsuitable } from './databases/connect.ts';
import { createStores, type StoreName, type StoreOwner } from './databases/store.ts';
import { statDisk, type MeasureDisk } from './disk-space.ts';
import { createBackupResolvers } from './graphql/backup.resolvers.ts';
import { createBackupMetrics } from './metrics.ts';
import { createDryRun } from './restore/dry-run.ts';
import { createRestoreRepository, createVerificationRepository } from './restore/restore.repository.ts';
import { createRestoreService } from './restore/restore.service.ts';
import { createVerifier } from './restore/verifier.ts';
import { loadLimits } from './restore/watch-database.ts';
import { createRunLock } from './run-lock.ts';
import { createNotifier } from './schedule/run-reports.ts';
import { createSchedules } from './schedule/runs.ts';
import { createBackupStatus } from './status.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './stall-detection.ts';
import { createDirectoryStorage } from './storage/directory-storage.ts';
import { createTemporaryDirs } from './temporary-files.ts';

export interface BackupDeps {
  clock: Clock;
  /** The services that own the stores. */
  owners: Record<StoreName, StoreOwner>;
  /** Reads the disk's state. @default from the system */
  measureDisk?: MeasureDisk;
  /** @default DEFAULT_TIMEOUTS */
  timeouts?: Partial<Timeouts>;
  log: Log;
  metrics?: Registry;
}

export type Backup = Awaited<ReturnType<typeof createBackup>>;

/** How often the metrics are updated with the work of other instances and copied archives, and leftovers are removed. */
const TIDY_EVERY_MS = 5 * 60_000;
/** How often stores whose time for an undo has passed are dropped. */
const SETTLE_EVERY_MS = 60_000;
/** Retries soon: until settling succeeds, stores may be closed, or a leftover database may fill the disk. */
const SETTLE_RETRY = { firstMs: 1_000, maxMs: 30_000 };

/** Does not connect yet. `start` checks the schema and completes work that a crash interrupted. */
export async function createBackup(config: BackupConfig, deps: BackupDeps) {
  const { clock, measureDisk = statDisk, log, metrics = new Registry() } = deps;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...deps.timeouts };
  const database = await createBackupDatabase({ url: config.postgresUrl, log });
  database.measure(metrics);
  const schema = createSchemaGate({ database, policy: config.schema, log });
  const now = () => clock.now();
  const { backupsDir: dir, secrets } = config;
  const storage = secrets.s3
    ? (await import('./storage/s3-storage.ts')) // loaded on demand: a large library
        .createS3Storage({ location: secrets.s3, now })
    : createDirectoryStorage({ dir, now, measureDisk });
  const temporaryDirs = createTemporaryDirs({ dir: config.temporaryDir, now, log });
  const cipher = await createCipher(config);
  const shared: CommonParts = {
    cipher,
    storage,
    measureDisk,
    temporaryDirs,
    stores: createStores(secrets.adminUrls, deps.owners),
    mainStore: config.restoreStore,
    archiveLimits: archiveLimits(config),
    loadLimits: loadLimits(config, timeouts),
    timeouts,
    acceptsNewerSchema: config.schema.acceptsNewer,
    keepOldMs: config.keepOldMs,
    now: () => new Date(clock.now()),
    nextId: () => randomBytes(6).toString('hex'),
    product: readVersion(),
    log,
    metrics: createBackupMetrics(metrics),
    onUnsettled: () => settling.soon(),
  };
  const verifier = createVerifier({
    ...shared,
    lock: createRunLock(database, 'taskmesh-verify', 'Another verification is running; try again later.'),
    journal: createVerificationRepository(database),
  });
  /** For operators only, which the caller must check. */
  const backups = createBackupService({
    ...shared,
    verifier,
    repository: createBackupRepository(database),
    createLock: createRunLock(database, 'taskmesh-create', 'Another backup is being made; try again later.'),
  });
  const restores = createRestoreService({
    ...shared,
    lock: createRunLock(database, 'taskmesh-restore', 'Another restore is running; try again later.'),
    journal: createRestoreRepository(database),
    makeSafetyBackup: async (onProgress) => (await backups.create(onProgress, 'safety')).file,
    usesSafetyBackups: config.usesSafetyBackups,
  });
  const settling = createPeriodic({
    everyMs: SETTLE_EVERY_MS,
    retry: SETTLE_RETRY,
    task: () => settleAll([restores.settleInterrupted(), verifier.settleInterrupted()]),
    what: 'settling interrupted restores',
    log,
  });
  const sweepDirs = () =>
    temporaryDirs.sweep().catch((err: unknown) => log.warn({ err }, 'temporary directories not removed'));
  const tidying = createPeriodic({
    everyMs: TIDY_EVERY_MS,
    // Listing examines archives that were copied into the storage.
    task: async () => {
      await sweepDirs();
      await backups.list();
      await backups.tidy();
    },
    what: 'tidying the backups',
    log,
  });
  const dryRun = createDryRun({ ...shared, verifier });
  const notifier = createNotifier(config, { ...shared, database, clock });
  const schedules = createSchedules(config, { ...shared, backups, database, reports: notifier.reports });
  const cleanUp = async () => {
    await sweepDirs();
    await backups.start();
    await settling.now();
  };
  const parts = inOrder([
    closeOnStop(() => database.close()),
    closeOnStop(() => storage.close()),
    schema,
    closeOnStop(() => settling.stop()),
    closeOnStop(() => notifier.close()),
    { start: cleanUp, stop: () => backups.stop() },
    // Stopped in parallel, because each may wait for the end of its run.
    { start: () => startAll(schedules), stop: () => settleAll(schedules.map((schedule) => schedule.stop())) },
    { start: async () => tidying.start({ afterPause: true }), stop: () => tidying.stop() },
  ]);

  return {
    subgraph: createSubgraph({
      name: 'backup',
      typeDefs: readTypeDefs(import.meta.dirname),
      resolvers: createBackupResolvers({ backups, restores, dryRun }),
      mapError: asUnavailable,
      log,
    }),
    backups,
    /** Called by the gateway in addition to the graph. */
    work: createBackupWork({ backups, restores, dryRun }),
    /** For operators only, like `work`. */
    operators: createBackupStatus(config, { backups, restores, database, encrypts: cipher !== undefined, clock }),
    async start() {
      ensureWritableDirectory('DATA_DIR', config.temporaryDir, 0o700);
      for (const url of Object.values(config.secrets.adminUrls)) await refuseUnsuitable(url).catch(unlessUnavailable);
      await parts.start();
    },
    stop: parts.stop,
    /** Ready if our own database responds and has our schema. */
    ready: () => storeHealth(database, schema),
  };
}

/** Ignores a server that does not respond yet: it is checked again before it is used. */
function unlessUnavailable(error: unknown): void {
  if (error instanceof ConfigError) throw error;
}
