import { AppError } from '@taskmesh/contracts';
import type { FoundDump } from '../archives/archive-dumps.ts';
import type { OnProgress } from '../archives/progress.ts';
import type { Skipped } from '@taskmesh/pg-rows';
import { exchangeStores, type Exchange, type ExchangeDeps } from './exchange-stores.ts';
import type { LoadLimits } from './load-limits.ts';
import { prepareDump } from './prepare-store.ts';
import type { Restore } from './restore.entity.ts';
import { namesOf } from './settle-restore.ts';

export interface StoresRestore extends Pick<Exchange, 'mayGoOn'> {
  id: string;
  file: string;
  dumps: FoundDump[];
  /** Whether to drop what a store lacks, instead of refusing the archive. */
  allowsLoss: boolean;
  limits: LoadLimits;
  /** Archives what is replaced, as late as possible, and returns the file's name. Absent: no safety backup. */
  makeSafetyBackup?: (() => Promise<string>) | undefined;
  onProgress: OnProgress;
}

/** The safety backup failed, so nothing is replaced. */
export class SafetyBackupError extends Error {
  override readonly name = 'SafetyBackupError';
}

/**
 * Replaces stores by those in the dumps: prepares all beside the live ones, then swaps them. Also returns what was
 * skipped or dropped.
 * @throws UnknownOutcomeError; any other error when the live stores are unchanged
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
    const dump = { store, names: namesOf(store, id), path, archived, allowsLoss, limits, log };
    const { rows, skipped, dropped } = await prepareDump(dump, onProgress);
    told.skipped.push(...skipped);
    told.dropped.push(...dropped.map((name) => `${store.name}.${name}`));
    log.info({ restore: id, store: store.name, rows }, 'store prepared');
  }
}
