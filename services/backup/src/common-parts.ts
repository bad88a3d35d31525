import type { Log } from '@taskmesh/service';
import type { ArchiveCipher } from './archives/encryption.ts';
import type { ArchiveLimits } from './archives/limits.ts';
import type { Store, StoreName } from './databases/store.ts';
import type { MeasureDisk } from './disk-space.ts';
import type { BackupMetrics } from './metrics.ts';
import type { LoadLimits } from './restore/watch-database.ts';
import type { BackupStorage } from './storage/backup-storage.ts';
import type { Timeouts } from './stall-detection.ts';
import type { TemporaryFiles } from './temporary-files.ts';

/** The dependencies that the features of backup share. */
export interface CommonParts {
  /** If undefined, archives are not encrypted, and encrypted ones cannot be opened. */
  cipher: ArchiveCipher | undefined;
  storage: BackupStorage;
  measureDisk: MeasureDisk;
  temporaryDirs: TemporaryFiles;
  stores: Record<StoreName, Store>;
  /** The store to which `database.sql` of an archive made elsewhere belongs. */
  mainStore: StoreName;
  /** The limits of a restore. No archive is made that exceeds them. */
  archiveLimits: ArchiveLimits;
  loadLimits: LoadLimits;
  timeouts: Timeouts;
  /** Whether a store may be replaced by one with the schema of an older release, as after a rollback. */
  acceptsNewerSchema: boolean;
  /** How long replaced stores are kept for an undo. */
  keepOldMs: number;
  now: () => Date;
  /** Returns a unique id for a restore or an archive: up to 16 letters or digits. */
  nextId: () => string;
  /** The version of Taskmesh. */
  product: string;
  log: Log;
  metrics: BackupMetrics;
  /** Called when something must be settled or removed, now or later. */
  onUnsettled: () => void;
}
