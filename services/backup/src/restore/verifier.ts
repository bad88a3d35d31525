import { notFound } from '@taskmesh/contracts';
import type { OnWorkProgress } from '@taskmesh/internal-api';
import { LossError } from '../archives/archive.errors.ts';
import { extractStored } from '../archives/extract-archive.ts';
import { dumpsOf, readDumps, type FoundDump } from '../archives/manifest.ts';
import type { CommonParts } from '../common-parts.ts';
import { dropFresh } from '../databases/fresh-database.ts';
import { type Store, type StoreName } from '../databases/store.ts';
import { LockBusyError, type RunLock } from '../run-lock.ts';
import type { OpenArchive } from '../storage/backup-storage.ts';
import { prepareStore, type PreparedStore } from './prepare-store.ts';
import type { Verification } from './restore.entities.ts';
import type { VerificationRepository } from './restore.repository.ts';
import { namesOf } from './settle-restore.ts';

export interface VerifierDeps extends CommonParts {
  /** Allows one verification at a time; restores have a lock of their own and never wait for this one. */
  lock: RunLock;
  journal: VerificationRepository;
}

export interface VerifyOptions {
  onProgress: OnWorkProgress;
  waitMs: number;
  /** If absent, all stores in the archive. */
  only?: readonly StoreName[] | undefined;
  /** Whether to leave out what a store lacks, instead of refusing the archive. If absent, leaves it out but throws a LossError. */
  allowsLoss?: boolean | undefined;
  /** Examines each store that was made, before it is dropped. */
  inspect?: (made: RestoredStore) => Promise<void>;
}

export interface RestoredStore {
  store: Store;
  database: string;
  prepared: PreparedStore;
}

export type Verifier = ReturnType<typeof createVerifier>;

export function createVerifier(deps: VerifierDeps) {
  const { storage, temporaryDirs, lock, timeouts, log } = deps;

  /** Removes leftovers. Those that cannot be removed yet do no harm; returns whether there are any. */
  const settleAll = async (): Promise<boolean> => {
    let hasLeftovers = false;
    for (const left of await deps.journal.all()) {
      try {
        await dropVerification(deps, left);
        log.warn({ verification: left.id }, 'leftovers of an interrupted verification removed');
      } catch (error) {
        hasLeftovers = true;
        log.warn({ err: error, verification: left.id }, 'leftovers of an interrupted verification not removed yet');
      }
    }
    return hasLeftovers;
  };

  const verifyAlone = (file: string, archive: OpenArchive, options: VerifyOptions) =>
    temporaryDirs.use(async (dir) => {
      const { onProgress, only } = options;
      onProgress({ phase: 'extract', doneBytes: 0, totalBytes: archive.sizeBytes });
      await extractStored({ file, archive, dir, onProgress }, deps);
      const dumps = dumpsOf(await readDumps(dir, deps), only);
      await settleAll();
      await tryDumps(deps, dumps, options);
      return dumps.map(({ store }) => store.name);
    });

  return {
    /**
     * Restores beside the live stores, then drops the result. Returns the stores that the archive would restore.
     * @throws AppError NOT_FOUND
     */
    async verify(file: string, options: VerifyOptions): Promise<StoreName[]> {
      const archive = await storage.open(file);
      if (archive.kind !== 'found') throw notFound('There is no such backup file.');
      return lock.run(options.waitMs, () => verifyAlone(file, archive, options)).finally(() => archive.close());
    },

    /** Removes databases that a crash left behind. @throws Error if some cannot be removed yet */
    async settleInterrupted(): Promise<void> {
      try {
        if (await lock.run(timeouts.busyMs, settleAll)) throw new Error('Databases of verifications still exist.');
      } catch (error) {
        if (!(error instanceof LockBusyError)) throw error; // the holder of the lock has already settled everything
      }
    },
  };
}

async function tryDumps(deps: VerifierDeps, dumps: FoundDump[], options: VerifyOptions): Promise<void> {
  const { onProgress, allowsLoss, inspect } = options;
  const { journal, now, nextId, loadLimits, log, onUnsettled } = deps;
  const verification: Verification = {
    id: nextId(),
    stores: dumps.map(({ store }) => store.name),
    startedAt: now(),
  };
  await journal.begin(verification);
  const lost: string[] = [];
  try {
    for (const { store, path, archived } of dumps) {
      const names = namesOf(store, verification);
      const dump = { store, names, path, archived, allowsLoss: allowsLoss ?? true };
      const prepared = await prepareStore({ ...dump, limits: loadLimits, log, onProgress });
      if (archived && allowsLoss === undefined)
        lost.push(...prepared.dropped.map((dropped) => `${store.name}.${dropped}`));
      await inspect?.({ store, database: names.fresh, prepared });
    }
    if (lost.length > 0)
      throw new LossError(`The archive can be restored only with losses, if these are allowed: ${lost.join(', ')}.`);
  } finally {
    // The journal keeps the verification until its databases can be dropped.
    await dropVerification(deps, verification).catch((error: unknown) => {
      log.error({ err: error, verification: verification.id }, 'databases of a verification not removed yet');
      onUnsettled();
    });
  }
}

async function dropVerification({ stores, journal }: VerifierDeps, verification: Verification): Promise<void> {
  for (const name of verification.stores) await dropFresh(stores[name].adminUrl, namesOf(stores[name], verification));
  await journal.end(verification.id);
}
