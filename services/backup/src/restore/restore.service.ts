import { AppError } from '@taskmesh/contracts';
import type { Log } from '@taskmesh/service';
import { dumpsOf, readDumps, type KnownStores } from '../archives/archive-dumps.ts';
import { extractStored, type ExtractStoredDeps } from '../archives/extract-archive.ts';
import { ExtractionError } from '../archives/extraction-error.ts';
import { ManifestError } from '../archives/manifest.ts';
import type { TemporaryDirs } from '../archives/temporary-dirs.ts';
import { LoadError } from '@taskmesh/pg-rows';
import type { BackupMetrics } from '../metrics.ts';
import type { OnProgress } from '../archives/progress.ts';
import type { RunLock } from '../run-lock.ts';
import type { BackupStorage, OpenArchive } from '../storage/backup-storage.ts';
import { MAIN_DUMP, type StoreName } from '../databases/store.ts';
import type { LoadLimits } from './load-limits.ts';
import { WritersBusyError } from '../databases/lock-writers.ts';
import { UnknownOutcomeError } from './exchange-stores.ts';
import { dropLeft } from './left-databases.ts';
import { IncompleteStoreError } from './prepare-store.ts';
import { RestoreBusy } from './restore-busy.ts';
import type { RestoreOutcome } from './restore-outcome.ts';
import type { Restore } from './restore.entity.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { restoreStores, SafetyBackupError, type StoresRestore } from './restore-stores.ts';
import { settleRestore } from './settle-restore.ts';
import { beginNewEpoch } from './new-epoch.ts';
import { undoRestore } from './undo-restore.ts';
import { isServersFault } from './verify.errors.ts';

export interface RestoreServiceDeps extends KnownStores, ExtractStoredDeps {
  storage: BackupStorage;
  temporaryDirs: TemporaryDirs;
  lock: RunLock;
  journal: RestoreRepository;
  metrics: BackupMetrics;
  now: () => Date;
  nextId: () => string;
  log: Log;
  loadLimits: LoadLimits;
  /** How long the replaced stores are kept for an undo. */
  keepOldMs: number;
  makeSafetyBackup: (onProgress: OnProgress) => Promise<string>;
  /** Whether restores make a safety backup by default. */
  usesSafetyBackups: boolean;
  /** Called when something has to be settled or removed, now or later. */
  onUnsettled: () => void;
}

export interface RestoreService {
  /** Restores from the archive named `file`. Never throws: failures are outcomes as well. */
  restore(file: string, options?: Partial<RestoreOptions>): Promise<RestoreOutcome>;
  /** Undoes the last restore while its old stores are kept. Never throws. */
  undo(options?: Partial<UndoOptions>): Promise<RestoreOutcome>;
  /** The restore that an undo would revert; undefined when nothing is kept. */
  undoable(): Promise<Undoable | undefined>;
  /** For stores that were reset by other means: makes clients start over. @throws AppError */
  newEpoch(atLeast?: number | null): Promise<number>;
  /** Completes what a crash interrupted; drops what is no longer kept. @throws Error if something remains to do */
  settleInterrupted(): Promise<void>;
}

/** How long a restore waits for another one. */
const WAIT_MS = 5_000;

export function createRestoreService(deps: RestoreServiceDeps): RestoreService {
  const { storage, lock, journal, metrics, now, nextId, log } = deps;

  /** Completes what a crash or an unreachable server interrupted. The caller holds the lock. */
  const settleAll = async () => {
    for (const { id, file } of await journal.unfinished()) {
      const outcome = await settleRestore(deps, id);
      log.warn({ restore: id, file, outcome }, 'interrupted restore settled');
    }
  };

  const restore = async (file: string, options: RestoreOptions): Promise<RestoreOutcome> => {
    if (file === '') return { kind: 'file-missing' };
    const archive = await storage.open(file);
    if (archive.kind === 'outside') return { kind: 'outside' };
    if (archive.kind === 'missing') return { kind: 'not-found' };
    try {
      return await lock.run(WAIT_MS, (mayGoOn) => restoreFrom(deps, { ...options, file, archive, mayGoOn, settleAll }));
    } finally {
      await archive.close();
    }
  };

  const undo = ({ onProgress, seen }: UndoOptions): Promise<RestoreOutcome> =>
    lock.run(WAIT_MS, async (mayGoOn) => {
      await settleAll();
      const kept = await journal.kept(now());
      if (!kept) return { kind: 'nothing-to-undo' };
      if (seen && seen.getTime() !== kept.endedAt?.getTime()) return { kind: 'other-restore' };
      log.warn({ restore: kept.id, file: kept.file }, 'a restore is taken back');
      try {
        const undone = await undoRestore(deps, { id: nextId(), kept, mayGoOn, onProgress });
        return { kind: 'restored', ...undone, skipped: [], dropped: [], takenBack: kept };
      } catch (error) {
        if (error instanceof UnknownOutcomeError) throw error;
        log.error({ err: error, restore: kept.id }, 'restore not taken back');
        return { kind: 'failed', error: `The restore was not undone (${reasonOf(error)}); the data are as they were.` };
      }
    });

  const settleUnfinished = async () => {
    const unfinished = (await journal.unfinished()).length;
    try {
      if (unfinished > 0) await lock.run(WAIT_MS, settleAll);
      metrics.unsettled(0);
    } catch (error) {
      if (error instanceof RestoreBusy) return; // the holder of the lock has settled everything before
      metrics.unsettled(unfinished);
      throw error;
    }
  };

  /** Holds no lock, because nothing waits for these databases. @throws Error when something is left */
  const removeLeft = async () => {
    await journal.limitKeeping(now(), deps.keepOldMs);
    const overdue = await journal.overdue(now());
    const takenBack = new Set((await journal.unfinished()).map(({ undoes }) => undoes)); // undone since before it was overdue
    let left = 0;
    for (const ended of overdue.filter(({ id }) => !takenBack.has(id))) if (!(await dropLeft(deps, ended))) left += 1;
    metrics.leftBehind(left);
    if (left > 0) throw new Error('Databases of ended restores are still there.');
  };

  return {
    async restore(file, options = {}) {
      const usual = { onProgress: () => undefined, allowsLoss: false };
      const outcome = await restore(file, { ...usual, ...options }).catch((error: unknown) => failureOf(error, log));
      metrics.restored('restore', outcome);
      return outcome;
    },

    async undo(options = {}) {
      const outcome = await undo({ onProgress: () => undefined, ...options }).catch((error: unknown) =>
        failureOf(error, log),
      );
      metrics.restored('undo', outcome);
      return outcome;
    },

    async undoable() {
      const kept = await journal.kept(now());
      return kept ? { kept, replacedKeptMs: deps.keepOldMs } : undefined;
    },

    newEpoch: (atLeast) =>
      beginNewEpoch({
        ...{ lock, waitMs: WAIT_MS, settleAll, atLeast, log },
        ...{ owner: deps.stores.tasks.owner, accountsOwner: deps.stores.auth.owner },
      }),

    async settleInterrupted() {
      try {
        await settleUnfinished();
      } finally {
        await removeLeft();
      }
    },
  };
}

export interface Undoable {
  kept: Restore;
  /** How long the stores that an undo replaces would be kept. */
  replacedKeptMs: number;
}

export interface RestoreOptions extends Pick<StoresRestore, 'onProgress' | 'allowsLoss'> {
  /** Absent: all stores in the archive. */
  only?: readonly StoreName[] | undefined;
  /** Whether to make a safety backup first. Absent: the service's setting. */
  withSafetyBackup?: boolean | undefined;
  /** The archive's name in messages. @default the file */
  decryptedFrom?: string | undefined;
}

export interface UndoOptions extends Pick<RestoreOptions, 'onProgress'> {
  /** The time of the restore to undo; any other restore is left alone. Absent: the last one. */
  seen?: Date | undefined;
}

interface OneRestore extends RestoreOptions, Pick<StoresRestore, 'file' | 'mayGoOn'> {
  archive: OpenArchive;
  settleAll: () => Promise<void>;
}

function restoreFrom(
  deps: RestoreServiceDeps,
  {
    file,
    archive,
    allowsLoss,
    only,
    withSafetyBackup,
    decryptedFrom = file,
    mayGoOn,
    settleAll,
    onProgress,
  }: OneRestore,
): Promise<RestoreOutcome> {
  const { temporaryDirs, nextId, log, loadLimits: limits } = deps;
  return temporaryDirs.use<RestoreOutcome>(async (dir) => {
    const hasDump = await extractStored({ file, archive, dir, onProgress }, deps);
    if (!hasDump) return { kind: 'processed', why: `it holds no ${MAIN_DUMP}` };
    let safetyBackup: string | undefined;
    try {
      const held = await readDumps(dir, deps);
      const dumps = dumpsOf(held, only);
      const onlyStore = dumps.length < held.length ? dumps[0]?.store.name : undefined;
      await settleAll();
      const isSafe = withSafetyBackup ?? deps.usesSafetyBackups;
      const makeSafetyBackup = isSafe
        ? async () => (safetyBackup = await deps.makeSafetyBackup(onProgress))
        : undefined;
      const restoring = {
        id: nextId(),
        file: decryptedFrom,
        dumps,
        allowsLoss,
        limits,
        makeSafetyBackup,
        mayGoOn,
        onProgress,
      };
      const restored = await restoreStores(deps, restoring);
      return { kind: 'restored', onlyStore, ...restored, safetyBackup };
    } catch (error) {
      if (error instanceof UnknownOutcomeError) return unknown(error, log, safetyBackup);
      log.error({ err: error, file, safetyBackup }, 'database not restored');
      return { kind: 'processed', why: reasonOf(error), safetyBackup };
    }
  });
}

function unknown(error: UnknownOutcomeError, log: Log, safetyBackup?: string): RestoreOutcome {
  log.error({ err: error, safetyBackup }, 'it is not known yet whether the stores were replaced');
  return { kind: 'unknown', safetyBackup };
}

/** What callers see of a failure: the reason that a dry run gives, if it lies in the archive. */
function reasonOf(error: unknown): string {
  if (error instanceof LoadError && !isServersFault(error.cause))
    return `the dump was not accepted: ${error.message.replace(/\.$/, '')}`;
  if (error instanceof IncompleteStoreError)
    return `the dump does not make a complete store: ${error.message.replace(/\.$/, '')}`;
  if (error instanceof ManifestError) return error.message.replace(/\.$/, '');
  if (error instanceof SafetyBackupError)
    return `without a safety backup nothing is replaced: ${error.message.replace(/\.$/, '')}`;
  if (error instanceof WritersBusyError) return 'somebody is writing without an end, see the log';
  if (error instanceof AppError) return error.message.replace(/\.$/, '');
  return 'the database step failed, see the log';
}

function failureOf(error: unknown, log: Log): RestoreOutcome {
  if (error instanceof ExtractionError) {
    log.warn({ err: error }, 'archive not extracted');
    return { kind: 'extraction-failed', error: error.message };
  }
  if (error instanceof RestoreBusy) return { kind: 'busy' };
  if (error instanceof UnknownOutcomeError) return unknown(error, log);
  if (error instanceof AppError) {
    log.error({ err: error }, 'restore failed');
    return { kind: 'failed', error: error.message };
  }
  log.error({ err: error }, 'restore failed');
  return { kind: 'failed', error: 'The restore failed unexpectedly; see the log.' };
}
