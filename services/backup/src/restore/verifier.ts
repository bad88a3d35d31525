import { unavailable } from '@taskmesh/contracts';
import type { Log } from '@taskmesh/service';
import { dumpsOf, readDumps, type FoundDump, type KnownStores } from '../archives/archive-dumps.ts';
import { extractStored, type ExtractStoredDeps } from '../archives/extract-archive.ts';
import type { TemporaryDirs } from '../archives/temporary-dirs.ts';
import type { OnProgress } from '../archives/progress.ts';
import { dropFresh } from '../databases/fresh-database.ts';
import type { LoadLimits } from './load-limits.ts';
import { prepareDump, type PreparedStore } from './prepare-store.ts';
import { namesOf } from './settle-restore.ts';
import type { RunLock } from '../run-lock.ts';
import type { OpenArchive } from '../storage/backup-storage.ts';
import { MAIN_DUMP, type Store, type StoreName } from '../databases/store.ts';
import type { Verification } from './verification.entity.ts';
import type { VerificationRepository } from './verification.repository.ts';
import { LossError, VerifyError } from './verify.errors.ts';

export interface VerifierDeps extends KnownStores, ExtractStoredDeps {
  temporaryDirs: TemporaryDirs;
  /** Allows one verification at a time; restores have another lock and never wait for this one. */
  lock: RunLock;
  journal: VerificationRepository;
  now: () => Date;
  nextId: () => string;
  log: Log;
  onUnsettled: () => void;
  loadLimits: LoadLimits;
}

interface Verifying {
  onProgress: OnProgress;
  waitMs: number;
  /** Absent: all stores in the archive. */
  only?: readonly StoreName[] | undefined;
  /** Whether to drop what a store lacks, instead of refusing the archive. Absent: drops it and throws a LossError. */
  allowsLoss?: boolean;
  /** Examines each store that was made, before it is dropped. */
  inspect?: (made: MadeStore) => Promise<void>;
}

export interface MadeStore {
  store: Store;
  database: string;
  prepared: PreparedStore;
}

export interface Verifier {
  /** Restores beside the live stores, then drops it all. Returns the stores that the archive would restore. */
  verify(file: string, archive: OpenArchive, how: Verifying): Promise<StoreName[]>;
  /** Removes what a crash left behind. @throws Error when that is not possible yet */
  settleInterrupted(): Promise<void>;
}

const SETTLE_WAIT_MS = 5_000;

export class VerificationBusy extends Error {
  override readonly name = 'VerificationBusy';
}

export function createVerifier(deps: VerifierDeps): Verifier {
  const { temporaryDirs, lock, log } = deps;

  /** Leftovers that cannot be removed yet do no harm. Returns whether there are any. */
  const settleAll = async (): Promise<boolean> => {
    let isLeft = false;
    for (const left of await deps.journal.all()) {
      try {
        await takeAway(deps, left);
        log.warn({ verification: left.id }, 'leftovers of an interrupted verification removed');
      } catch (error) {
        isLeft = true;
        log.warn({ err: error, verification: left.id }, 'leftovers of an interrupted verification not removed yet');
      }
    }
    return isLeft;
  };

  const verifyAlone = (file: string, archive: OpenArchive, how: Verifying) =>
    temporaryDirs.use(async (dir) => {
      const { onProgress, only } = how;
      onProgress({ phase: 'extract', doneBytes: 0, totalBytes: archive.sizeBytes });
      const hasDump = await extractStored({ file, archive, dir, onProgress }, deps);
      if (!hasDump) throw new VerifyError(`it holds no ${MAIN_DUMP}`);
      const dumps = dumpsOf(await readDumps(dir, deps), only);
      await settleAll();
      await tryDumps(deps, dumps, how);
      return dumps.map(({ store }) => store.name);
    });

  return {
    async verify(file, archive, how) {
      try {
        return await lock.run(how.waitMs, () => verifyAlone(file, archive, how));
      } catch (error) {
        throw error instanceof VerificationBusy
          ? unavailable('Another verification is running; try again later.', error)
          : error;
      }
    },

    async settleInterrupted() {
      try {
        if (await lock.run(SETTLE_WAIT_MS, settleAll)) throw new Error('Databases of verifications are still there.');
      } catch (error) {
        if (!(error instanceof VerificationBusy)) throw error; // the holder of the lock has settled everything before
      }
    },
  };
}

async function tryDumps(deps: VerifierDeps, dumps: FoundDump[], how: Verifying): Promise<void> {
  const { onProgress, allowsLoss, inspect } = how;
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
      const names = namesOf(store, verification.id);
      const dump = { store, names, path, archived, allowsLoss: allowsLoss ?? true };
      const prepared = await prepareDump({ ...dump, limits: loadLimits, log }, onProgress);
      if (archived && allowsLoss === undefined)
        lost.push(...prepared.dropped.map((dropped) => `${store.name}.${dropped}`));
      await inspect?.({ store, database: names.fresh, prepared });
    }
    if (lost.length > 0)
      throw new LossError(`The archive restores with a loss only, if that is allowed: without ${lost.join(', ')}.`);
  } finally {
    // The journal remembers what is left until it can be dropped.
    await takeAway(deps, verification).catch((error: unknown) => {
      log.error({ err: error, verification: verification.id }, 'databases of a verification not removed yet');
      onUnsettled();
    });
  }
}

async function takeAway({ stores, journal }: VerifierDeps, { id, stores: names }: Verification): Promise<void> {
  for (const name of names) await dropFresh(stores[name].adminUrl, namesOf(stores[name], id));
  await journal.end(id);
}
