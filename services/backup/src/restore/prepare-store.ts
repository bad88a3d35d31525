import { inDatabase } from '@taskmesh/database';
import type { Adoption } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import type { ArchivedDump } from '../archives/archive-dumps.ts';
import { ManifestError } from '../archives/manifest.ts';
import { checkBareTables, keepBareTables } from '../databases/bare-tables.ts';
import { maintenanceUrl, withClient } from '../databases/connect.ts';
import { createFreshDatabase, handOver } from '../databases/fresh-database.ts';
import type { RestoreNames } from '../databases/names.ts';
import { loadDump } from '../loader/load-dump.ts';
import type { SharedJudge } from '../loader/statement-judge.ts';
import type { Store } from '../stores/store.ts';
import { checkLoaded, checkTaken } from '../verify/row-counts.ts';
import type { LoadLimits } from './load-limits.ts';

/** A dump whose rows do not make a store. */
export class IncompleteStoreError extends Error {
  override readonly name = 'IncompleteStoreError';
}

export interface Preparation {
  store: Store;
  names: RestoreNames;
  /** The dump's path. */
  path: string;
  /** What the manifest says of it; absent for a dump from somewhere else. */
  archived?: ArchivedDump | undefined;
  /** Whether what the store has no place for is left out of an archive, rather than a reason to refuse. @default false */
  allowsLoss?: boolean;
  limits: LoadLimits;
  judge: SharedJudge;
  log: Log;
  /** Told from time to time how much of the dump is loaded. */
  onLoaded?: (bytes: number) => void;
  /** Told when all of it is. */
  onCheck?: () => void;
}

/**
 * Makes a database from a dump, beside the living one: loaded by a role without rights, reduced to its rows, adopted by the
 * service that owns the store.
 */
export async function prepareStore(preparation: Preparation): Promise<Extract<Adoption, { complete: true }>> {
  const { store, names, path, archived, allowsLoss = false, limits, judge, log, onLoaded, onCheck } = preparation;
  const { adminUrl, owner, name } = store;
  const loaderUrl = await createFreshDatabase(adminUrl, names, limits);
  const begin = performance.now();
  const { statements, copiedRows, bytes } = await withinSize(adminUrl, names.fresh, limits, (signal) =>
    loadDump({ path, url: loaderUrl, signal, judge, onProgress: onLoaded }),
  );
  log.info(
    { store: name, statements, copiedRows, bytes, tookMs: Math.round(performance.now() - begin) },
    'dump loaded',
  );
  onCheck?.();
  await keepBareTables(loaderUrl);
  const freshUrl = inDatabase(adminUrl, names.fresh);
  await checkBareTables(freshUrl);
  if (archived) await checkLoaded({ url: freshUrl, archived, timeoutMs: limits.statementTimeoutMs });
  await handOver(adminUrl, names);
  const adoption = await owner.adopt(names.fresh, archived && { schemaVersion: archived.schemaVersion, allowsLoss });
  if (!adoption.complete)
    throw new (adoption.concerns === 'archive' ? ManifestError : IncompleteStoreError)(adoption.reason);
  if (archived) checkTaken(adoption.rows, archived);
  if (adoption.dropped.length > 0)
    log.warn({ store: name, dropped: adoption.dropped }, 'tables or columns of the dump were dropped');
  return adoption;
}

const WATCH_EVERY_MS = 1_000;

/** Ends `work` when the database grows beyond the limit, or the time is up. */
async function withinSize<Result>(
  adminUrl: string,
  database: string,
  { timeoutMs, databaseBytes }: LoadLimits,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withClient(maintenanceUrl(adminUrl), async (watcher) => {
    const tooLarge = new AbortController();
    const timer = setInterval(() => {
      watcher.query<{ bytes: string }>('select pg_database_size($1) as bytes', [database]).then(
        ({ rows }) => {
          if (Number(rows[0]?.bytes) > databaseBytes) tooLarge.abort(new Error('The database grew too large.'));
        },
        () => undefined, // the work itself finds out when the server is away
      );
    }, WATCH_EVERY_MS);
    try {
      return await work(AbortSignal.any([tooLarge.signal, AbortSignal.timeout(timeoutMs)]));
    } finally {
      clearInterval(timer);
    }
  });
}
