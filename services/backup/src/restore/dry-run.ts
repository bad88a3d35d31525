import type { OnWorkProgress, RestoreForecast } from '@taskmesh/internal-api';
import { inDatabase } from '@taskmesh/store';
import { asVerifyFailure } from '../archives/archive.errors.ts';
import type { CommonParts } from '../common-parts.ts';
import { findNewerSchema, parseStoreNames } from '../databases/store.ts';
import { findObstacles } from '../databases/swap-obstacles.ts';
import { byKind } from './restore-result.ts';
import type { RestoreParameters } from './restore.service.ts';
import type { RestoredStore, Verifier } from './verifier.ts';
import { runOwnerStep } from './watch-database.ts';

/**
 * Performs all steps of a restore except the swap, and compares the result with the live stores.
 * @throws AppError BAD_USER_INPUT; NOT_FOUND; CONFLICT with the reason when the archive is unfit for this restore; SERVICE_UNAVAILABLE
 */
export type DryRun = (
  file: string,
  onProgress?: OnWorkProgress,
  parameters?: Pick<RestoreParameters, 'allowLoss' | 'stores'>,
) => Promise<RestoreForecast>;

export function createDryRun(deps: DryRunDeps): DryRun {
  const { verifier, timeouts, log } = deps;
  const forecastOf: DryRun = async (file, onProgress = () => undefined, { allowLoss, stores } = {}) => {
    const begin = performance.now();
    const only = parseStoreNames(stores);
    const found: RestoreForecast = { ...{ possible: true, accounts: null, tookMs: 0 }, ...{ obstacles: [], stores: [], skipped: [], dropped: [] } }; // prettier-ignore
    const inspect = (store: RestoredStore) => compare(store, found, { ...deps, onProgress });
    const options = { onProgress, waitMs: timeouts.busyMs, only, allowsLoss: allowLoss ?? false, inspect };
    await verifier.verify(file, options);
    const possible = found.obstacles.length === 0;
    const tookMs = Math.round(performance.now() - begin);
    const forecast = { ...found, possible, skipped: byKind(found.skipped), tookMs };
    log.info({ file, ...forecast }, 'dry run of a restore ended');
    return forecast;
  };

  return (file, ...more) =>
    forecastOf(file, ...more).catch((error: unknown) => {
      log.warn({ err: error, file }, 'dry run failed');
      throw asVerifyFailure(error);
    });
}

interface DryRunDeps extends Pick<CommonParts, 'loadLimits' | 'timeouts' | 'acceptsNewerSchema' | 'log'> {
  verifier: Verifier;
}

async function compare(
  { store, database, prepared }: RestoredStore,
  forecast: RestoreForecast,
  { loadLimits, timeouts, acceptsNewerSchema, onProgress }: DryRunDeps & { onProgress: OnWorkProgress },
) {
  const { name, adminUrl, owner } = store;
  onProgress({ phase: 'compare', store: name });
  const { tables, accounts } = await runOwnerStep(adminUrl, database, () => owner.compare(database), loadLimits);
  forecast.stores.push({
    store: name,
    rows: Object.entries(tables).map(([table, rows]) => ({ name: table, ...rows })),
  });
  forecast.accounts ??= accounts ?? null;
  forecast.skipped.push(...prepared.skipped);
  forecast.dropped.push(...prepared.dropped.map((dropped) => `${name}.${dropped}`));
  const fresh = inDatabase(adminUrl, database);
  const obstacles = await findObstacles({
    ...{ adminUrl, fresh, writersMs: timeouts.writersMs },
    waitsForWriters: owner.carryOver !== undefined,
  });
  const newerSchema = acceptsNewerSchema ? undefined : await findNewerSchema(store, database);
  if (newerSchema !== undefined) obstacles.push(newerSchema);
  forecast.obstacles.push(...obstacles.map((obstacle) => `${name}: ${obstacle}`));
}
