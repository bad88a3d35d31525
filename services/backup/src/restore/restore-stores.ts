import { AppError } from '@taskmesh/contracts';
import type { Skipped } from '@taskmesh/pg-rows';
import { renewSettings } from '@taskmesh/pg-rows/replacement';
import type { FoundDump } from '../archives/manifest.ts';
import { maintenanceUrl, withAdmin, withReplacement } from '../databases/connect.ts';
import { allowConnections } from '../databases/swap.ts';
import { prepareStore } from './prepare-store.ts';
import type { Restore } from './restore.entities.ts';
import { namesOf } from './settle-restore.ts';
import { exchangeStores, type Exchange, type ExchangeDeps } from './swap-stores.ts';
import { runOwnerStep } from './watch-database.ts';

export interface StoresRestore extends Pick<Exchange, 'mayContinue' | 'onProgress'> {
  id: string;
  file: string;
  dumps: FoundDump[];
  /** Whether to leave out tables and columns that a store lacks, instead of refusing the archive. */
  allowsLoss: boolean;
  /** Archives the live stores, as late as possible, and returns the file's name. If absent, no safety backup is made. */
  makeSafetyBackup?: (() => Promise<string>) | undefined;
}

/** The safety backup failed, so nothing is replaced. */
export class SafetyBackupError extends Error {
  override readonly name = 'SafetyBackupError';
}

/**
 * Replaces stores with those in the dumps: prepares all beside the live ones, then swaps them. The result includes what
 * was skipped or dropped.
 * @throws UnknownOutcomeError; any other error when the live stores are unchanged
 */
export async function restoreStores(deps: ExchangeDeps, restore: StoresRestore) {
  const { id, file, dumps, allowsLoss, makeSafetyBackup, mayContinue, onProgress } = restore;
  const { journal, loadLimits: limits, log } = deps;
  const skipped: Skipped[] = [];
  const dropped: string[] = [];
  const prepareOne = async ({ store, path, archived }: FoundDump) => {
    const dump = { store, names: namesOf(store, restore), path, archived, allowsLoss, limits, log, onProgress };
    const prepared = await prepareStore(dump);
    skipped.push(...prepared.skipped);
    dropped.push(...prepared.dropped.map((name) => `${store.name}.${name}`));
    log.info({ restore: id, store: store.name, rows: prepared.rows }, 'store prepared');
  };
  const backUp = async (make: () => Promise<string>) => {
    const safetyBackup = await make().catch((cause: unknown) => {
      throw new SafetyBackupError(cause instanceof AppError ? cause.message : 'See the log.', { cause });
    });
    await journal.reach(id, { stage: 'loading', safetyBackup });
    log.info({ restore: id, safetyBackup }, 'safety backup made');
  };
  const exchanged = await exchangeStores(deps, {
    restore: newRestore(deps, { id, file, stores: dumps.map(({ store }) => store.name) }),
    async prepare() {
      for (const dump of dumps) await prepareOne(dump);
    },
    beforeSwap: makeSafetyBackup && (() => backUp(makeSafetyBackup)),
    mayContinue,
    onProgress,
  });
  return { ...exchanged, skipped, dropped };
}

export function newRestore(
  { now }: Pick<ExchangeDeps, 'now'>,
  what: Pick<Restore, 'id' | 'file' | 'stores'> & Partial<Restore>,
): Restore {
  return {
    stage: 'loading',
    undoes: null,
    freshIds: {},
    safetyBackup: null,
    startedAt: now(),
    endedAt: null,
    leftUntil: null,
    ...what,
  };
}

export interface RestoreUndo extends Pick<Exchange, 'mayContinue' | 'onProgress'> {
  id: string;
  /** The restore to undo; its old stores still exist. */
  kept: Restore;
}

/**
 * Replaces the live stores with those from before a restore. The replaced ones are kept in turn.
 * @throws UnknownOutcomeError; any other error when the live stores are unchanged
 */
export function undoRestore(deps: ExchangeDeps, { id, kept, mayContinue, onProgress }: RestoreUndo) {
  const { file, stores: storeNames, id: undoes } = kept;
  return exchangeStores(deps, {
    restore: newRestore(deps, { id, file, stores: storeNames, undoes }),
    async prepare() {
      for (const name of storeNames) {
        const { adminUrl, owner } = deps.stores[name];
        const names = namesOf(deps.stores[name], { id, undoes });
        onProgress({ phase: 'check', store: name });
        await withAdmin(maintenanceUrl(adminUrl), (admin) => admin.query(allowConnections(names.fresh, true)));
        await runOwnerStep(adminUrl, names.fresh, () => owner.resume(names.fresh), deps.loadLimits);
        const refused = await withReplacement(adminUrl, names, renewSettings);
        if (refused.length > 0)
          deps.log.warn({ store: name, refused }, 'settings that the administrator may not carry over');
      }
    },
    mayContinue,
    onProgress,
  });
}
