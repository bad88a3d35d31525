import type { Log } from '@taskmesh/service';
import { join } from 'node:path';
import { extractArchive } from '../archives/extract-archive.ts';
import { ExtractionError } from '../archives/extraction-error.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../archives/limits.ts';
import { isPlainFile, ManifestError, readManifest } from '../archives/manifest.ts';
import type { Scratch } from '../archives/scratch.ts';
import { LoadError } from '../loader/load-error.ts';
import type { BackupStorage, OpenArchive } from '../storage/backup-storage.ts';
import { DUMP_FILES, MAIN_DUMP, type Store, type StoreName } from '../stores/store.ts';
import { IncompleteStoreError, LOAD_LIMITS, type LoadLimits } from './prepare-store.ts';
import { RestoreBusy, type RestoreLock } from './restore-lock.ts';
import type { RestoreOutcome } from './restore-outcome.ts';
import type { RestoreRepository } from './restore.repository.ts';
import { restoreStores, type StoresRestore } from './restore-stores.ts';
import { settleRestore } from './settle-restore.ts';

export interface RestoreServiceDeps {
  storage: BackupStorage;
  scratch: Scratch;
  lock: RestoreLock;
  journal: RestoreRepository;
  stores: Record<StoreName, Store>;
  /** The store that `database.sql` of a foreign archive is a dump of. */
  mainStore: StoreName;
  now: () => Date;
  nextId: () => string;
  log: Log;
  archiveLimits?: ArchiveLimits;
  loadLimits?: LoadLimits;
  /** How long a restore waits for another one. @default 5_000 */
  waitMs?: number;
}

export type RestoreService = ReturnType<typeof createRestoreService>;

const WAIT_MS = 5_000;

export function createRestoreService(deps: RestoreServiceDeps) {
  const { storage, lock, journal, log, waitMs = WAIT_MS } = deps;

  /** Ends what a crash or an absent server left half done. To be called with the lock held. */
  const settleAll = async () => {
    for (const restore of await journal.unfinished()) {
      const outcome = await settleRestore(restore, deps);
      log.warn({ restore: restore.id, file: restore.file, outcome }, 'interrupted restore settled');
    }
  };

  return {
    /** Restores from the archive that `file` names. Never throws: every end is an outcome. */
    async restore(file: string): Promise<RestoreOutcome> {
      try {
        if (file === '') return { kind: 'file-missing' };
        const archive = await storage.open(file);
        if (archive.kind === 'outside') return { kind: 'outside' };
        if (archive.kind === 'missing') return { kind: 'not-found' };
        try {
          return await lock.run(waitMs, (mayGoOn) => restoreFrom(deps, { file, archive, mayGoOn, settleAll }));
        } finally {
          await archive.close();
        }
      } catch (error) {
        return failureOf(error, log);
      }
    },

    /** Ends what a crash left half done. @throws Error when it cannot be done yet */
    settleInterrupted: () => lock.run(waitMs, settleAll),
  };
}

interface OneRestore extends Pick<StoresRestore, 'file' | 'mayGoOn'> {
  archive: OpenArchive;
  settleAll: () => Promise<void>;
}

function restoreFrom(
  deps: RestoreServiceDeps,
  { file, archive, mayGoOn, settleAll }: OneRestore,
): Promise<RestoreOutcome> {
  const { scratch, nextId, log, archiveLimits = ARCHIVE_LIMITS, loadLimits = LOAD_LIMITS } = deps;
  return scratch.use(async (dir) => {
    await extractArchive({ source: archive.read(), sizeBytes: archive.sizeBytes, dir, limits: archiveLimits });
    if (!(await isPlainFile(join(dir, MAIN_DUMP)))) return { kind: 'processed', why: `it holds no ${MAIN_DUMP}` };
    try {
      const dumps = await dumpsIn(dir, deps);
      await settleAll();
      await restoreStores(deps, { id: nextId(), file, dumps, limits: loadLimits, mayGoOn });
      return { kind: 'restored' };
    } catch (error) {
      log.error({ err: error, file }, 'database not restored');
      return { kind: 'processed', why: reasonOf(error) };
    }
  });
}

/** An archive that was made here says what it holds; of another one, only the main dump is known. */
async function dumpsIn(dir: string, { stores, mainStore }: RestoreServiceDeps): Promise<StoresRestore['dumps']> {
  const manifest = await readManifest(dir);
  if (!manifest) return [{ store: stores[mainStore], path: join(dir, MAIN_DUMP) }];
  return Object.values(stores)
    .filter(({ name }) => manifest.stores[name]?.file === DUMP_FILES[name])
    .map((store) => ({ store, path: join(dir, DUMP_FILES[store.name]) }));
}

/** What the caller is told of a failure that is otherwise for the log only. */
function reasonOf(error: unknown): string {
  if (error instanceof LoadError) return 'the dump was not accepted, see the log';
  if (error instanceof IncompleteStoreError) return 'the dump does not make a complete store, see the log';
  if (error instanceof ManifestError) return 'the archive is not what its manifest says';
  return 'the database step failed, see the log';
}

function failureOf(error: unknown, log: Log): RestoreOutcome {
  if (error instanceof ExtractionError) {
    log.warn({ err: error }, 'archive not extracted');
    return { kind: 'extraction-failed', error: error.message };
  }
  if (error instanceof RestoreBusy) return { kind: 'failed', error: error.message };
  log.error({ err: error }, 'restore failed');
  return { kind: 'failed', error: 'The restore failed unexpectedly; see the log.' };
}
