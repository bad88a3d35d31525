import { AppError, badUserInput, unavailable } from '@taskmesh/contracts';
import {
  parseRestoredAt,
  type OnWorkProgress,
  type RestoreParameters as Given,
  type UndoableRestore,
} from '@taskmesh/internal-api';
import { LoadError } from '@taskmesh/pg-rows';
import type { Log } from '@taskmesh/service';
import { isServerFailure } from '../archives/archive.errors.ts';
import { extractStored } from '../archives/extract-archive.ts';
import { ExtractionError } from '../archives/limits.ts';
import { dumpsOf, ManifestError, readDumps } from '../archives/manifest.ts';
import type { CommonParts } from '../common-parts.ts';
import { WritersBusyError } from '../databases/lock-writers.ts';
import { parseStoreNames, type StoreName } from '../databases/store.ts';
import { LockBusyError, type RunLock } from '../run-lock.ts';
import { isListableName, type OpenArchive } from '../storage/backup-storage.ts';
import { IncompleteStoreError } from './prepare-store.ts';
import { processed, refused, restored, undone, type RestoreResult } from './restore-result.ts';
import { restoreStores, SafetyBackupError, undoRestore } from './restore-stores.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { dropLeftovers, settleRestore } from './settle-restore.ts';
import { UnknownOutcomeError } from './swap-stores.ts';

export interface RestoreServiceDeps extends CommonParts {
  lock: RunLock;
  journal: RestoreRepository;
  makeSafetyBackup: (onProgress: OnWorkProgress) => Promise<string>;
  /** Whether restores make a safety backup by default. */
  usesSafetyBackups: boolean;
}

/** Without `stores`, all stores in the archive are restored. Without `safetyBackup`, the service's setting applies. */
export type RestoreParameters = { [Name in keyof Given]: Given[Name] | null };

export interface RestoreService {
  /** Restores from the archive named `file`. @throws AppError BAD_USER_INPUT; all other failures are results as well */
  restore(file: string, onProgress?: OnWorkProgress, parameters?: RestoreParameters): Promise<RestoreResult>;
  /**
   * Undoes the last restore while its old stores are kept; with `restoredAt`, only the restore of that time.
   * @throws AppError BAD_USER_INPUT; all other failures are results as well
   */
  undo(onProgress?: OnWorkProgress, restoredAt?: unknown): Promise<RestoreResult>;
  /** The restore that an undo would revert; null when nothing is kept. */
  undoable(): Promise<UndoableRestore | null>;
  /**
   * Makes clients start over, after stores were reset by other means. Without `atLeast`, the epoch is derived from the clock.
   * @throws AppError SERVICE_UNAVAILABLE; CONFLICT when the clock is clearly behind; BAD_USER_INPUT
   */
  newEpoch(atLeast?: number | null): Promise<number>;
  /** Completes interrupted restores; drops databases that are no longer kept. @throws Error if something remains to do */
  settleInterrupted(): Promise<void>;
}

export function createRestoreService(deps: RestoreServiceDeps): RestoreService {
  const { storage, stores, lock, journal, metrics, timeouts, now, nextId, keepOldMs, log } = deps;

  /** Completes restores that a crash or an unreachable server interrupted. The caller holds the lock. */
  const settleAll = async () => {
    for (const { id, file } of await journal.unfinished()) {
      const outcome = await settleRestore(deps, id);
      log.warn({ restore: id, file, outcome }, 'interrupted restore settled');
    }
  };

  const restore = async (file: string, work: Omit<OneRestore, 'archive' | 'mayContinue'>): Promise<RestoreResult> => {
    if (file === '') return refused('FILE_MISSING');
    const archive = await storage.open(file);
    if (archive.kind === 'outside') return refused('FILE_OUTSIDE');
    if (archive.kind === 'missing') return refused('FILE_NOT_FOUND');
    const restoring = lock.run(timeouts.busyMs, (mayContinue) => restoreFrom(deps, { ...work, archive, mayContinue }));
    return restoring.finally(() => archive.close());
  };

  const undo = (onProgress: OnWorkProgress, expectedAt: Date | undefined): Promise<RestoreResult> =>
    lock.run(timeouts.busyMs, async (mayContinue) => {
      await settleAll();
      const kept = await journal.kept(now());
      if (!kept) return refused('NOTHING_TO_UNDO');
      if (expectedAt && expectedAt.getTime() !== kept.endedAt?.getTime()) return refused('OTHER_RESTORE');
      log.warn({ restore: kept.id, file: kept.file }, 'undoing a restore');
      try {
        return undone(await undoRestore(deps, { id: nextId(), kept, mayContinue, onProgress }), kept);
      } catch (error) {
        if (error instanceof UnknownOutcomeError) throw error;
        log.error({ err: error, restore: kept.id }, 'restore not undone');
        return refused('FAILED', `The restore was not undone (${reasonOf(error)}); the data are as they were.`);
      }
    });

  /** Never runs during a restore, which derives its epoch from the live one and would end up with a lower one. */
  const newEpoch = (atLeast: number | null | undefined) =>
    lock.run(timeouts.busyMs, async (mayContinue) => {
      await settleAll(); // this may take a while
      const { tasks, auth } = stores;
      if (!tasks.owner.newEpoch || !(await mayContinue())) throw unavailable();
      const epoch = await tasks.owner.newEpoch(atLeast);
      await auth.owner.newEpoch?.(); // other services follow auth's log of accounts
      log.warn({ epoch }, 'a new epoch was begun: clients read their lists again');
      return epoch;
    });

  const settleUnfinished = async () => {
    const unfinished = (await journal.unfinished()).length;
    try {
      if (unfinished > 0) await lock.run(timeouts.busyMs, settleAll);
      metrics.unsettled(0);
    } catch (error) {
      if (error instanceof LockBusyError) return; // the holder of the lock has already settled everything
      metrics.unsettled(unfinished);
      throw error;
    }
  };

  /** Needs no lock, because nothing waits for these databases. @throws Error when some remain */
  const removeLeftovers = async () => {
    const overdue = await journal.overdue(now());
    const beingUndone = new Set((await journal.unfinished()).map(({ undoes }) => undoes)); // an undo that began in time is using them
    let remaining = 0;
    for (const ended of overdue.filter(({ id }) => !beingUndone.has(id)))
      if (!(await dropLeftovers(deps, ended))) remaining += 1;
    metrics.leftBehind(remaining);
    if (remaining > 0) throw new Error('Databases of ended restores still exist.');
  };

  const withMetrics = async (work: 'restore' | 'undo', running: Promise<RestoreResult>): Promise<RestoreResult> => {
    const result = await running.catch((error: unknown) => resultOf(error, log));
    metrics.restored(work, result.outcome);
    if (result.outcome === 'UNKNOWN') metrics.unsettled(1); // the journal may be unavailable when the next run counts
    return result;
  };

  return {
    async restore(file, onProgress = () => undefined, parameters = {}) {
      const { allowLoss, stores: wanted, safetyBackup, decryptedFrom } = parameters;
      const work = {
        file,
        onProgress,
        only: parseStoreNames(wanted),
        allowsLoss: allowLoss ?? false,
        withSafetyBackup: safetyBackup ?? deps.usesSafetyBackups,
        nameForMessages: archiveNameOf(decryptedFrom) ?? file,
        settleAll,
      };
      return withMetrics('restore', restore(file, work));
    },
    async undo(onProgress = () => undefined, restoredAt = null) {
      const expectedAt = restoredAt === null ? undefined : new Date(parseRestoredAt(restoredAt));
      return withMetrics('undo', undo(onProgress, expectedAt));
    },
    async undoable() {
      const kept = await journal.kept(now());
      if (!kept) return null;
      const { file, stores: replaced, undoes, endedAt, leftUntil } = kept;
      return {
        file,
        stores: replaced,
        isUndo: undoes !== null,
        restoredAt: (endedAt as Date).toISOString(), // both are set while it is kept
        keptUntil: (leftUntil as Date).toISOString(),
        replacedKeptMs: keepOldMs,
      };
    },
    newEpoch: (atLeast) =>
      newEpoch(atLeast).catch((error: unknown) => {
        throw error instanceof LockBusyError ? unavailable(error.message, error) : error;
      }),
    settleInterrupted: () => settleUnfinished().finally(removeLeftovers),
  };
}

function archiveNameOf(name: string | null | undefined): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (isListableName(name)) return name;
  const message = 'must be the name of an archive';
  throw badUserInput([{ path: 'decryptedFrom', message }], `decryptedFrom ${message}.`);
}

interface OneRestore {
  file: string;
  archive: OpenArchive;
  onProgress: OnWorkProgress;
  /** If absent, all stores in the archive. */
  only: readonly StoreName[] | undefined;
  /** Whether to leave out tables and columns that a store lacks, instead of refusing the archive. */
  allowsLoss: boolean;
  withSafetyBackup: boolean;
  /** Differs from `file` if the archive was decrypted elsewhere. */
  nameForMessages: string;
  mayContinue: () => Promise<boolean>;
  settleAll: () => Promise<void>;
}

async function restoreFrom(deps: RestoreServiceDeps, restore: OneRestore): Promise<RestoreResult> {
  const { temporaryDirs, nextId, log } = deps;
  const { file, archive, onProgress, only, allowsLoss, withSafetyBackup, nameForMessages, mayContinue } = restore;
  // Stores may be closed until then, and extracting takes long.
  await restore.settleAll().catch((err: unknown) => log.warn({ err }, 'interrupted restores not settled yet'));
  return temporaryDirs.use(async (dir) => {
    await extractStored({ file, archive, dir, onProgress }, deps);
    let safetyBackup: string | null = null;
    const makeSafetyBackup = async () => (safetyBackup = await deps.makeSafetyBackup(onProgress));
    try {
      const allDumps = await readDumps(dir, deps);
      const dumps = dumpsOf(allDumps, only);
      const onlyStore = dumps.length < allDumps.length ? dumps[0]?.store.name : undefined;
      await restore.settleAll();
      const done = await restoreStores(deps, {
        ...{ id: nextId(), file: nameForMessages, dumps, allowsLoss, mayContinue, onProgress },
        makeSafetyBackup: withSafetyBackup ? makeSafetyBackup : undefined,
      });
      return restored({ ...done, onlyStore, safetyBackup });
    } catch (error) {
      if (error instanceof UnknownOutcomeError) return unknownResult(error, log, safetyBackup);
      log.error({ err: error, file, safetyBackup }, 'database not restored');
      return processed(reasonOf(error), safetyBackup);
    }
  });
}

function unknownResult(error: UnknownOutcomeError, log: Log, safetyBackup: string | null = null): RestoreResult {
  log.error({ err: error, safetyBackup }, 'it is not known yet whether the stores were replaced');
  return refused('UNKNOWN', undefined, safetyBackup);
}

/** The reason that callers see; the same as a dry run's, if the archive is at fault. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message.replace(/\.$/, '') : '';
  if (error instanceof LoadError && !isServerFailure(error.cause)) return `the dump was not accepted: ${message}`;
  if (error instanceof IncompleteStoreError) return `the dump does not make a complete store: ${message}`;
  if (error instanceof SafetyBackupError) return `without a safety backup nothing is replaced: ${message}`;
  if (error instanceof WritersBusyError) return 'writers did not stop, see the log';
  if (error instanceof ManifestError || error instanceof AppError) return message;
  return 'the database step failed, see the log';
}

function resultOf(error: unknown, log: Log): RestoreResult {
  if (error instanceof LockBusyError) return refused('BUSY');
  if (error instanceof UnknownOutcomeError) return unknownResult(error, log);
  if (error instanceof ExtractionError) {
    log.warn({ err: error }, 'archive not extracted');
    return refused('EXTRACTION_FAILED', error.message);
  }
  log.error({ err: error }, 'restore failed');
  return refused('FAILED', error instanceof AppError ? error.message : 'The restore failed unexpectedly; see the log.');
}
