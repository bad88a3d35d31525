import { notFound } from '@taskmesh/contracts';
import type { AccountsComparison, OnWorkProgress, RowsChange } from '@taskmesh/internal-api';
import type { Skipped } from '@taskmesh/pg-rows';
import { inDatabase } from '@taskmesh/store';
import { asVerifyFailure } from '../archives/archive.errors.ts';
import type { CommonParts } from '../common-parts.ts';
import type { StoreName } from '../databases/store.ts';
import { findObstacles } from '../databases/swap-obstacles.ts';
import type { RestoreOptions } from './restore.service.ts';
import type { MadeStore, Verifier } from './verifier.ts';

export interface RestoreForecast {
  stores: { store: StoreName; tables: Record<string, RowsChange> }[];
  /** Absent where no accounts are replaced. */
  accounts?: AccountsComparison | undefined;
  /** What would make a swap of the live stores fail now, as sentences. */
  obstacles: string[];
  skipped: Skipped[];
  /** As in a restore's outcome. */
  dropped: string[];
  tookMs: number;
}

/**
 * Does everything that a restore does except the swap, and compares the result with the live stores.
 * @throws AppError NOT_FOUND; CONFLICT with the reason when the archive is unfit for this restore; SERVICE_UNAVAILABLE
 */
export type DryRun = (file: string, options: RestoreOptions) => Promise<RestoreForecast>;

const WAIT_MS = 5_000;

export function createDryRun({ storage, verifier, log }: DryRunDeps): DryRun {
  const forecast = async (file: string, { onProgress = () => undefined, allowsLoss = false, only }: RestoreOptions) => {
    const begin = performance.now();
    const archive = file === '' ? undefined : await storage.open(file);
    if (archive?.kind !== 'found') throw notFound('There is no such backup file.');
    const forecast: RestoreForecast = { stores: [], obstacles: [], skipped: [], dropped: [], tookMs: 0 };
    try {
      const inspect = (made: MadeStore) => compare(made, forecast, onProgress);
      await verifier.verify(file, archive, { onProgress, waitMs: WAIT_MS, only, allowsLoss, inspect });
    } finally {
      await archive.close();
    }
    forecast.tookMs = Math.round(performance.now() - begin);
    log.info({ file, ...forecast }, 'restore tried, nothing changed');
    return forecast;
  };

  return (file, options) =>
    forecast(file, options).catch((error: unknown) => {
      log.warn({ err: error, file }, 'restore tried in vain');
      throw asVerifyFailure(error);
    });
}

interface DryRunDeps extends Pick<CommonParts, 'storage' | 'log'> {
  verifier: Verifier;
}

async function compare(
  { store, database, prepared }: MadeStore,
  forecast: RestoreForecast,
  onProgress: OnWorkProgress,
) {
  const { name, adminUrl, owner } = store;
  onProgress({ phase: 'compare', store: name });
  const { tables, accounts } = await owner.compare(database);
  forecast.stores.push({ store: name, tables });
  forecast.accounts ??= accounts;
  forecast.skipped.push(...prepared.skipped);
  forecast.dropped.push(...prepared.dropped.map((dropped) => `${name}.${dropped}`));
  const fresh = inDatabase(adminUrl, database);
  const obstacles = await findObstacles({ adminUrl, fresh, waitsForWriters: owner.carryOver !== undefined });
  forecast.obstacles.push(...obstacles.map((obstacle) => `${name}: ${obstacle}`));
}
