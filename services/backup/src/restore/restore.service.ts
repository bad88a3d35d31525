import { AppError, unavailable } from '@taskmesh/contracts';
import type { OnWorkProgress } from '@taskmesh/internal-api';
import { LoadError } from '@taskmesh/pg-rows';
import type { Log } from '@taskmesh/service';
import { isServersFault } from '../archives/archive.errors.ts';
import { extractStored } from '../archives/extract-archive.ts';
import { ExtractionError } from '../archives/limits.ts';
import { dumpsOf, ManifestError, readDumps } from '../archives/manifest.ts';
import type { CommonParts } from '../common-parts.ts';
import { WritersBusyError } from '../databases/lock-writers.ts';
import type { StoreName } from '../databases/store.ts';
import { LockBusyError, type RunLock } from '../run-lock.ts';
import type { OpenArchive } from '../storage/backup-storage.ts';
import { IncompleteStoreError } from './prepare-store.ts';
import type { RestoreOutcome } from './restore-outcome.ts';
import { restoreStores, SafetyBackupError, undoRestore } from './restore-stores.ts';
import type { Restore } from './restore.entities.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { dropLeft, settleRestore } from './settle-restore.ts';
import { UnknownOutcomeError } from './swap-stores.ts';

export interface RestoreServiceDeps extends CommonParts {
  lock: RunLock;
  journal: RestoreRepository;
  makeSafetyBackup: (onProgress: OnWorkProgress) => Promise<string>;
  /** Whether restores make a safety backup by default. */
  usesSafetyBackups: boolean;
}

export interface RestoreOptions {
  onProgress?: OnWorkProgress | undefined;
  /** Whether to drop what a store lacks, instead of refusing the archive. */
  allowsLoss?: boolean | undefined;
  /** Absent: all stores in the archive. */
  only?: readonly StoreName[] | undefined;
  /** Whether to make a safety backup first. Absent: the service's setting. */
  withSafetyBackup?: boolean | undefined;
  /** The archive's name in messages. @default the file */
  decryptedFrom?: string | undefined;
}

export interface UndoOptions {
  onProgress?: OnWorkProgress | undefined;
  /** The time of the restore to undo; any other restore is left alone. Absent: the last one. */
  seen?: Date | undefined;
}

export interface Undoable {
  kept: Restore;
  /** How long the stores that an undo replaces would be kept. */
  replacedKeptMs: number;
}

export interface RestoreService {
  /** Restores from the archive named `file`. Never throws: failures are outcomes as well. */
  restore(file: string, options?: RestoreOptions): Promise<RestoreOutcome>;
  /** Undoes the last restore while its old stores are kept. Never throws. */
  undo(options?: UndoOptions): Promise<RestoreOutcome>;
  /** The restore that an undo would revert; undefined when nothing is kept. */
  undoable(): Promise<Undoable | undefined>;
  /**
   * For stores that were reset by other means: makes clients start over. Absent `atLeast`: derived from the clock.
   * @throws AppError SERVICE_UNAVAILABLE; CONFLICT when the clock is evidently behind; BAD_USER_INPUT
   */
  newEpoch(atLeast?: number | null): Promise<number>;
  /** Completes what a crash interrupted; drops what is no longer kept. @throws Error if something remains to do */
  settleInterrupted(): Promise<void>;
}

/** How long a restore waits for another one. */
const WAIT_MS = 5_000;

export function createRestoreService(deps: RestoreServiceDeps): RestoreService {
  const { storage, stores, lock, journal, metrics, now, nextId, keepOldMs, log } = deps;

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
    const work = { ...options, file, archive, settleAll };
    const restored = lock.run(WAIT_MS, (mayGoOn) => restoreFrom(deps, { ...work, mayGoOn }));
    return restored.finally(() => archive.close());
  };

  const undo = ({ onProgress = () => undefined, seen }: UndoOptions): Promise<RestoreOutcome> =>
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

  /** Never during a restore, which derives its own epoch from the live one and would end up with a lower one. */
  const newEpoch = (atLeast: number | null | undefined) =>
    lock.run(WAIT_MS, async (mayGoOn) => {
      await settleAll(); // this may take a while
      const { tasks, auth } = stores;
      if (!tasks.owner.newEpoch || !(await mayGoOn())) throw unavailable();
      const epoch = await tasks.owner.newEpoch(atLeast);
      await auth.owner.newEpoch?.(); // others follow the log of its accounts
      log.warn({ epoch }, 'a new epoch was begun: clients read their lists again');
      return epoch;
    });

  const settleUnfinished = async () => {
    const unfinished = (await journal.unfinished()).length;
    try {
      if (unfinished > 0) await lock.run(WAIT_MS, settleAll);
      metrics.unsettled(0);
    } catch (error) {
      if (error instanceof LockBusyError) return; // the holder of the lock has settled everything before
      metrics.unsettled(unfinished);
      throw error;
    }
  };

  /** Holds no lock, because nothing waits for these databases. @throws Error when something is left */
  const removeLeft = async () => {
    await journal.limitKeeping(now(), keepOldMs);
    const overdue = await journal.overdue(now());
    const takenBack = new Set((await journal.unfinished()).map(({ undoes }) => undoes)); // undone since before it was overdue
    let left = 0;
    for (const ended of overdue.filter(({ id }) => !takenBack.has(id))) if (!(await dropLeft(deps, ended))) left += 1;
    metrics.leftBehind(left);
    if (left > 0) throw new Error('Databases of ended restores are still there.');
  };

  const counted = async (work: 'restore' | 'undo', running: Promise<RestoreOutcome>): Promise<RestoreOutcome> => {
    const outcome = await running.catch((error: unknown) => failureOf(error, log));
    metrics.restored(work, outcome);
    return outcome;
  };

  return {
    restore: (file, options = {}) => counted('restore', restore(file, options)),
    undo: (options = {}) => counted('undo', undo(options)),
    async undoable() {
      const kept = await journal.kept(now());
      return kept ? { kept, replacedKeptMs: keepOldMs } : undefined;
    },
    newEpoch: (atLeast) =>
      newEpoch(atLeast).catch((error: unknown) => {
        throw error instanceof LockBusyError ? unavailable(error.message, error) : error;
      }),
    settleInterrupted: () => settleUnfinished().finally(removeLeft),
  };
}

interface OneRestore extends RestoreOptions {
  file: string;
  archive: OpenArchive;
  mayGoOn: () => Promise<boolean>;
  settleAll: () => Promise<void>;
}

function restoreFrom(deps: RestoreServiceDeps, restore: OneRestore): Promise<RestoreOutcome> {
  const { temporaryDirs, usesSafetyBackups, nextId, log, loadLimits: limits } = deps;
  const { file, archive, only, mayGoOn, settleAll } = restore;
  const { allowsLoss = false, withSafetyBackup = usesSafetyBackups, decryptedFrom = file } = restore;
  const { onProgress = () => undefined } = restore;
  return temporaryDirs.use<RestoreOutcome>(async (dir) => {
    await extractStored({ file, archive, dir, onProgress }, deps);
    let safetyBackup: string | undefined;
    const makeSafetyBackup = async () => (safetyBackup = await deps.makeSafetyBackup(onProgress));
    try {
      const held = await readDumps(dir, deps);
      const dumps = dumpsOf(held, only);
      const onlyStore = dumps.length < held.length ? dumps[0]?.store.name : undefined;
      await settleAll();
      const restored = await restoreStores(deps, {
        ...{ id: nextId(), file: decryptedFrom, dumps, allowsLoss, limits, mayGoOn, onProgress },
        makeSafetyBackup: withSafetyBackup ? makeSafetyBackup : undefined,
      });
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
  const message = error instanceof Error ? error.message.replace(/\.$/, '') : '';
  if (error instanceof LoadError && !isServersFault(error.cause)) return `the dump was not accepted: ${message}`;
  if (error instanceof IncompleteStoreError) return `the dump does not make a complete store: ${message}`;
  if (error instanceof SafetyBackupError) return `without a safety backup nothing is replaced: ${message}`;
  if (error instanceof WritersBusyError) return 'somebody is writing without an end, see the log';
  if (error instanceof ManifestError || error instanceof AppError) return message;
  return 'the database step failed, see the log';
}

function failureOf(error: unknown, log: Log): RestoreOutcome {
  if (error instanceof LockBusyError) return { kind: 'busy' };
  if (error instanceof UnknownOutcomeError) return unknown(error, log);
  if (error instanceof ExtractionError) {
    log.warn({ err: error }, 'archive not extracted');
    return { kind: 'extraction-failed', error: error.message };
  }
  log.error({ err: error }, 'restore failed');
  const message = error instanceof AppError ? error.message : 'The restore failed unexpectedly; see the log.';
  return { kind: 'failed', error: message };
}
