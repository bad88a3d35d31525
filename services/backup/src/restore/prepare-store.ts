import { inDatabase } from '@taskmesh/store';
import type { ImportResult } from '@taskmesh/internal-api';
import { checkOnlyTables, dumpDatabase, openSnapshot, type Skipped } from '@taskmesh/pg-rows';
import type { Log } from '@taskmesh/service';
import { rm, stat } from 'node:fs/promises';
import type { ArchivedDump } from '../archives/archive-dumps.ts';
import { ManifestError, OtherReleaseError } from '../archives/manifest.ts';
import type { OnProgress } from '../archives/progress.ts';
import { carryOverSettings } from '../databases/carry-over.ts';
import { createFreshDatabase, handOver } from '../databases/fresh-database.ts';
import { connectAdmin, withAdmin } from '../databases/connect.ts';
import { RESTORED_SCHEMA, type RestoreNames } from '../databases/names.ts';
import { loadDump } from './load-dump.ts';
import { untilAborted } from '../stall-detection.ts';
import type { Store } from '../databases/store.ts';
import { checkLoaded, checkTaken } from './row-counts.ts';
import type { LoadLimits } from './load-limits.ts';
import { whileWatched } from './watch-database.ts';

/** The rows of the dump do not make a store. */
export class IncompleteStoreError extends Error {
  override readonly name = 'IncompleteStoreError';
}

/** Errors by what a refused import concerns. */
const REFUSALS = { archive: ManifestError, version: OtherReleaseError, rows: IncompleteStoreError };

export interface Preparation {
  store: Store;
  names: RestoreNames;
  path: string;
  /** What the manifest says about it; absent for archives made elsewhere. */
  archived?: ArchivedDump | undefined;
  /** Whether to drop what the store lacks, instead of refusing the archive. @default false */
  allowsLoss?: boolean;
  limits: LoadLimits;
  log: Log;
  onLoaded?: (bytes: number) => void;
  onCheck?: () => void;
}

type Imported = Extract<ImportResult, { complete: true }>;

export interface PreparedStore extends Imported {
  skipped: Skipped[];
}

/**
 * Makes a database from a dump, beside the live one: a role without rights loads the rows, then the service that owns
 * the store imports them. Each step ends, if necessary by its limits on progress, time or size.
 */
export async function prepareStore(preparation: Preparation): Promise<PreparedStore> {
  const { store, names, limits } = preparation;
  const { adminUrl } = store;
  // Not watched: if abandoned, the server might still create the database afterwards.
  const loaderUrl = await createFreshDatabase(adminUrl, names, limits);
  return whileWatched({ adminUrl, database: names.fresh, limits }, async (signal, onProgress) => {
    const skipped = await load(preparation, { loaderUrl, signal, onProgress });
    const imported = await untilAborted(signal, importLoaded(preparation));
    if (!preparation.archived) return { ...imported, skipped };
    const own = withoutOwn(skipped, inDatabase(adminUrl, names.fresh), `${preparation.path}.own`, signal);
    return { ...imported, skipped: await untilAborted(signal, own) };
  });
}

/** The same, telling how far it is. */
export async function prepareDump(
  preparation: Omit<Preparation, 'onLoaded' | 'onCheck'>,
  onProgress: OnProgress,
): Promise<PreparedStore> {
  const store = preparation.store.name;
  const totalBytes = (await stat(preparation.path)).size;
  return prepareStore({
    ...preparation,
    onLoaded: (doneBytes) => onProgress({ phase: 'load', store, doneBytes, totalBytes }),
    onCheck: () => onProgress({ phase: 'check', store }),
  });
}

interface LoadStep {
  loaderUrl: string;
  signal: AbortSignal;
  onProgress: () => void;
}

async function load({ store, path, log, onLoaded }: Preparation, step: LoadStep): Promise<Skipped[]> {
  const begin = performance.now();
  const { statements, copiedRows, bytes, skipped } = await loadDump({
    path,
    url: step.loaderUrl,
    signal: step.signal,
    onProgress(read) {
      step.onProgress();
      onLoaded?.(read);
    },
  });
  const tookMs = Math.round(performance.now() - begin);
  log.info({ store: store.name, statements, copiedRows, bytes, skipped, tookMs }, 'dump loaded');
  return skipped;
}

async function importLoaded(preparation: Preparation): Promise<Imported> {
  const { store, names, archived, allowsLoss = false, limits, log, onCheck } = preparation;
  const { adminUrl, owner, name } = store;
  onCheck?.();
  const freshUrl = inDatabase(adminUrl, names.fresh);
  await withAdmin(freshUrl, (admin) => checkOnlyTables(admin, RESTORED_SCHEMA));
  if (archived) await checkLoaded({ url: freshUrl, archived, timeoutMs: limits.statementTimeoutMs });
  const refused = await handOver(adminUrl, names);
  const result = await owner.importDatabase(
    names.fresh,
    archived && { schemaVersion: archived.schemaVersion, allowsLoss },
  );
  if (!result.complete) throw new REFUSALS[result.concerns ?? 'rows'](result.reason);
  if (archived) checkTaken(result.rows, archived);
  if (result.dropped.length > 0)
    log.warn({ store: name, dropped: result.dropped }, 'tables or columns of the dump were dropped');
  refused.push(...(await carryOverSettings(adminUrl, names)));
  if (refused.length > 0)
    log.warn({ store: name, refused }, 'settings of the living database that the administrator may not carry over');
  return result;
}

/** What was skipped, without the store's own indexes, constraints and triggers, which its migrations create. */
async function withoutOwn(skipped: Skipped[], url: string, path: string, signal: AbortSignal): Promise<Skipped[]> {
  if (skipped.length === 0) return skipped;
  try {
    const fresh = await openSnapshot(await connectAdmin(url));
    const dump = fresh.read((client) => dumpDatabase({ client, path, rowsOf: () => 'none' }));
    await dump.finally(() => fresh.close());
    const own = await loadDump({ path, signal });
    const counts = new Map(own.skipped.map(({ kind, count }) => [kind, count]));
    return skipped
      .map(({ kind, count }) => ({ kind, count: count - (counts.get(kind) ?? 0) }))
      .filter(({ count }) => count > 0);
  } catch {
    return skipped; // reports too much, but nothing else depends on it
  } finally {
    await rm(path, { force: true });
  }
}
