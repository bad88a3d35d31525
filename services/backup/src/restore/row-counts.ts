import { escapeIdentifier, type Client } from 'pg';
import { MAX_TABLES } from '../archives/limits.ts';
import { ManifestError } from '../archives/manifest.ts';
import type { ArchivedDump } from '../archives/archive-dumps.ts';
import { RESTORED_SCHEMA } from '../databases/names.ts';
import { withAdmin } from '../databases/connect.ts';

type Rows = Record<string, number>;

export interface LoadedDump {
  /** As the administrator. */
  url: string;
  archived: ArchivedDump;
  timeoutMs: number;
}

/** @throws ManifestError when the loaded tables and row counts differ from the manifest */
export async function checkLoaded({ url, archived, timeoutMs }: LoadedDump): Promise<void> {
  const { rows: promised, hasUnnamedTables } = archived;
  const loaded = await countRows(url, timeoutMs);
  for (const table of new Set([...Object.keys(promised), ...loaded.keys()])) {
    const [found, wanted] = [loaded.get(table), Object.hasOwn(promised, table) ? promised[table] : undefined];
    if (found === undefined) throw new ManifestError(`The manifest names the table ${table}, which is not there.`);
    if (wanted === undefined && !hasUnnamedTables)
      throw new ManifestError(`The manifest does not name the table ${table}.`);
    if (found !== (wanted ?? 0)) throw differs(table, found, wanted ?? 0);
  }
}

/** @throws ManifestError when the imported row counts differ from the manifest */
export function checkTaken(taken: Rows, { rows: promised }: ArchivedDump): void {
  for (const [table, count] of Object.entries(taken))
    if (count !== promised[table]) throw differs(table, count, promised[table] ?? 0);
}

function differs(table: string, found: number, promised: number): ManifestError {
  return new ManifestError(`The table ${table} has ${found} rows, and the manifest says ${promised}.`);
}

function countRows(url: string, timeoutMs: number): Promise<Map<string, number>> {
  const count = async (client: Client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')
       limit $2`,
      [RESTORED_SCHEMA, MAX_TABLES + 1],
    );
    if (tables.length > MAX_TABLES) throw new ManifestError(`The dump has more than ${MAX_TABLES} tables.`);
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
