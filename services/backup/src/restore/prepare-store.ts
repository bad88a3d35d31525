import type { ImportResult, OnWorkProgress } from '@taskmesh/internal-api';
import { checkOnlyTables, type Skipped } from '@taskmesh/pg-rows';
import { copySettings } from '@taskmesh/pg-rows/replacement';
import type { Log } from '@taskmesh/service';
import { inDatabase } from '@taskmesh/store';
import { stat } from 'node:fs/promises';
import { escapeIdentifier, type Client } from 'pg';
import { ManifestError, OtherReleaseError, type ArchivedDump } from '../archives/manifest.ts';
import { withAdmin, withReplacement } from '../databases/connect.ts';
import { createFreshDatabase, assignToOwner } from '../databases/fresh-database.ts';
import { RESTORED_SCHEMA, type RestoreNames } from '../databases/names.ts';
import type { Store } from '../databases/store.ts';
import { rejectOnAbort } from '../stall-detection.ts';
import { loadDump } from './load-dump.ts';
import { runWatched, type LoadLimits } from './watch-database.ts';

/** The dump's rows do not make a complete store. */
export class IncompleteStoreError extends Error {
  override readonly name = 'IncompleteStoreError';
}

/** The error classes for a refused import, by what the refusal concerns. */
const REFUSALS = { archive: ManifestError, version: OtherReleaseError, rows: IncompleteStoreError };

export interface Preparation {
  store: Store;
  names: RestoreNames;
  path: string;
  /** The manifest's description of the dump; absent for archives made elsewhere. */
  archived?: ArchivedDump | undefined;
  /** Whether to leave out tables and columns that the store lacks, instead of refusing the archive. @default false */
  allowsLoss?: boolean;
  limits: LoadLimits;
  log: Log;
  onProgress: OnWorkProgress;
}

type Imported = Extract<ImportResult, { complete: true }>;

export interface PreparedStore extends Imported {
  skipped: Skipped[];
}

/**
 * Makes a database from a dump, beside the live one: an unprivileged role loads the rows, then the service that owns the
 * store imports them. Limits on progress, time and size guarantee that each step ends.
 */
export async function prepareStore(preparation: Preparation): Promise<PreparedStore> {
  const { store, names, limits } = preparation;
  const { adminUrl } = store;
  // Not watched: the server might still create the database after we have given up.
  const loaderUrl = await createFreshDatabase(adminUrl, names, limits);
  return runWatched({ adminUrl, database: names.fresh, limits }, async (signal, onActivity) => {
    const skipped = await load(preparation, loaderUrl, signal, onActivity);
    const imported = await rejectOnAbort(signal, importLoaded(preparation));
    return { ...imported, skipped: preparation.archived ? [] : skipped }; // in our archives, what migrations create
  });
}

async function load(
  preparation: Preparation,
  url: string,
  signal: AbortSignal,
  onActivity: () => void,
): Promise<Skipped[]> {
  const { store, path, log, onProgress: onLoaded } = preparation;
  const begin = performance.now();
  const totalBytes = (await stat(path)).size;
  const onProgress = (doneBytes: number) => {
    onActivity();
    onLoaded({ phase: 'load', store: store.name, doneBytes, totalBytes });
  };
  const { skipped, ...loaded } = await loadDump({ path, url, signal, onProgress });
  const tookMs = Math.round(performance.now() - begin);
  log.info({ store: store.name, ...loaded, skipped, tookMs }, 'dump loaded');
  return skipped;
}

async function importLoaded(preparation: Preparation): Promise<Imported> {
  const { store, names, archived, allowsLoss = false, limits, log, onProgress } = preparation;
  const { adminUrl, owner, name } = store;
  onProgress({ phase: 'check', store: name });
  const freshUrl = inDatabase(adminUrl, names.fresh);
  await withAdmin(freshUrl, (admin) => checkOnlyTables(admin, RESTORED_SCHEMA));
  if (archived) await checkLoaded(freshUrl, archived, limits.statementTimeoutMs);
  const refused = await assignToOwner(adminUrl, names);
  const result = await owner.importDatabase(
    names.fresh,
    archived && { schemaVersion: archived.schemaVersion, allowsLoss },
  );
  if (!result.complete) throw new REFUSALS[result.concerns ?? 'rows'](result.reason);
  if (archived) checkImported(result.rows, archived);
  if (result.dropped.length > 0)
    log.warn({ store: name, dropped: result.dropped }, 'tables or columns of the dump were dropped');
  refused.push(...(await withReplacement(adminUrl, names, copySettings)));
  if (refused.length > 0)
    log.warn({ store: name, refused }, 'settings of the live database that the administrator may not carry over');
  return result;
}

type Rows = Record<string, number>;

/** @throws ManifestError when the loaded tables and row counts differ from the manifest */
async function checkLoaded(url: string, { rows: expected, hasUnnamedTables }: ArchivedDump, timeoutMs: number) {
  const loaded = await countRows(url, timeoutMs);
  for (const table of new Set([...Object.keys(expected), ...loaded.keys()])) {
    const [found, expectedCount] = [loaded.get(table), Object.hasOwn(expected, table) ? expected[table] : undefined];
    if (found === undefined) throw new ManifestError(`The manifest names the table ${table}, which is missing.`);
    if (expectedCount === undefined && !hasUnnamedTables)
      throw new ManifestError(`The manifest does not name the table ${table}.`);
    if (found !== (expectedCount ?? 0)) throw rowCountError(table, found, expectedCount ?? 0);
  }
}

/** @throws ManifestError when the imported row counts differ from the manifest */
function checkImported(imported: Rows, { rows: expected }: ArchivedDump): void {
  for (const [table, count] of Object.entries(imported))
    if (count !== expected[table]) throw rowCountError(table, count, expected[table] ?? 0);
}

function rowCountError(table: string, found: number, expected: number): ManifestError {
  return new ManifestError(`The table ${table} has ${found} rows, but the manifest says ${expected}.`);
}

function countRows(url: string, timeoutMs: number): Promise<Map<string, number>> {
  const count = async (client: Client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')`,
      [RESTORED_SCHEMA],
    );
    const counts = new Map<string, number>();
    for (const { name } of tables) {
      const table = `${RESTORED_SCHEMA}.${escapeIdentifier(name)}`;
      const { rows } = await client.query<{ count: string }>(`select count(*) as count from ${table}`);
      counts.set(name, Number(rows[0]?.count));
    }
    return counts;
  };
  return withAdmin(url, count, { timeoutMs });
}
