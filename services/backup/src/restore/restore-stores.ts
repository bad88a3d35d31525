import { AppError } from '@taskmesh/errors';
import { stat } from 'node:fs/promises';
import type { FoundDump } from '../archives/archive-dumps.ts';
import type { OnProgress } from '../backups/backup-progress.ts';
import type { Skipped } from '../loader/dump-schema.ts';
import { exchangeStores, type Exchange, type ExchangeDeps } from './exchange-stores.ts';
import type { LoadLimits } from './load-limits.ts';
import { prepareStore } from './prepare-store.ts';
import type { Restore } from './restore.entity.ts';
import { namesOf } from './settle-restore.ts';

export interface StoresRestore extends Pick<Exchange, 'mayGoOn'> {
  id: string;
  file: string;
  /** Which stores, and where their dumps are. */
  dumps: FoundDump[];
  /** Whether what a store has no place for is left out of an archive, rather than a reason to refuse. */
  allowsLoss: boolean;
  limits: LoadLimits;
  /** Makes an archive of what is replaced, as late as possible, and gives its name. Absent: none is made. */
  makeSafetyBackup?: (() => Promise<string>) | undefined;
  onProgress: OnProgress;
}

/** Without the archive of what was to be replaced, nothing is. */
export class SafetyBackupError extends Error {
  override readonly name = 'SafetyBackupError';
}

/**
 * Replaces stores by what dumps hold: all are prepared beside the living ones first, then they change places. Returns what of
 * the dumps was passed over or left out, too.
 * @throws UnknownOutcomeError; any other error when the living stores are as they were
 */
export async function restoreStores(deps: ExchangeDeps, restore: StoresRestore) {
  const { id, file, dumps, mayGoOn, onProgress } = restore;
  const told: Told = { skipped: [], dropped: [] };
  const exchanged = await exchangeStores(deps, {
    restore: newRestore(deps, { id, file, stores: dumps.map(({ store }) => store.name) }),
    async prepare() {
      await prepareAll(deps, restore, told);
      await keepSafe(deps, restore);
    },
    mayGoOn,
    onSwap: () => onProgress({ phase: 'swap' }),
  });
  return { ...exchanged, ...told };
}

/** The journal's line about what begins now. */
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

interface Told {
  skipped: Skipped[];
  /** What the stores had no place for, as `store.table` or `store.table.column`. */
  dropped: string[];
}

async function keepSafe({ journal, log }: ExchangeDeps, { id, makeSafetyBackup }: StoresRestore) {
  if (!makeSafetyBackup) return;
  const safetyBackup = await makeSafetyBackup().catch((cause: unknown) => {
    throw new SafetyBackupError(cause instanceof AppError ? cause.message : 'See the log.', { cause });
  });
  await journal.reach(id, { stage: 'loading', safetyBackup });
  log.info({ restore: id, safetyBackup }, 'safety backup made');
}

async function prepareAll({ log }: ExchangeDeps, restore: StoresRestore, told: Told): Promise<void> {
  const { id, dumps, allowsLoss, limits, onProgress } = restore;
  for (const { store, path, archived } of dumps) {
    const totalBytes = (await stat(path)).size;
    const onLoaded = (doneBytes: number) => onProgress({ phase: 'load', store: store.name, doneBytes, totalBytes });
    const onCheck = () => onProgress({ phase: 'check', store: store.name });
    const dump = { store, names: namesOf(store, id), path, archived, allowsLoss };
    const { rows, skipped, dropped } = await prepareStore({ ...dump, limits, log, onLoaded, onCheck });
    told.skipped.push(...skipped);
    told.dropped.push(...dropped.map((name) => `${store.name}.${name}`));
    log.info({ restore: id, store: store.name, rows }, 'store prepared');
  }
}
