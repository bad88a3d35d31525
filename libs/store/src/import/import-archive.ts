import type { ArchivedStore } from '@taskmesh/internal-api';
import { isUniqueViolation } from '../database/failures.ts';
import type { SqlSession } from '../database/session.ts';
import {
  columnsOf,
  findLostColumns,
  findMissingColumns,
  findRefusedRows,
  RESTORED,
  STORE,
  tablesOf,
  versionOrOne,
  valueOf,
  type Columns,
  type StoreDatabase,
  type StoreRules,
} from './restored-tables.ts';

export interface DumpImport {
  /** Connected to the restored database. */
  session: SqlSession;
  store: StoreDatabase;
  rules: StoreRules;
}

interface ArchiveImport extends DumpImport {
  archived: ArchivedStore;
}

export type ImportedRows =
  | { rows: Record<string, number>; dropped: string[] }
  /** `concerns`: the archive as a whole, or a version unknown here; absent if rows were refused. */
  | { reason: string; concerns?: 'archive' | 'version' };

/**
 * Migrates an empty store to the archive's version, inserts the archive's rows unchanged, and then migrates to the current
 * version. Imports every table whose rows are archived. The rows are untrusted, so they are checked at the end.
 */
export async function importArchive(archive: ArchiveImport): Promise<ImportedRows> {
  const { session, store, archived, rules } = archive;
  const { schemaVersion, allowsLoss } = archived;
  const { table: mainTable, tables } = rules;
  if (schemaVersion === null || !store.versions.includes(schemaVersion)) return unknownVersion(archive);
  await store.migrate({ to: schemaVersion });
  const [restored, own] = [await tablesOf(session, RESTORED), await tablesOf(session, STORE)];
  const kept = new Map([...own].filter(([table]) => tables[table]?.archived === 'rows'));
  const mismatch = missingTables({ restored, own }, schemaVersion) ?? (await otherVersion(session, schemaVersion));
  if (mismatch !== undefined) return { reason: mismatch, concerns: 'archive' };
  const columnNames = Object.fromEntries([...kept].map(([table, columns]) => [table, [...columns.keys()]]));
  const dropped = await findLostColumns(session, columnNames, [...own.keys()]);
  if (dropped.length > 0 && !allowsLoss) return wouldLose(dropped);

  const rows: Record<string, number> = {};
  for (const [table, columns] of kept) {
    const count = await unlessBroken(put(session, table, [...columns.keys()]));
    if (count === undefined) return { reason: `Rows of the table ${table} break the rules of their store.` };
    rows[table] = count;
  }
  const isMigrated = await unlessBroken(store.migrate().then(() => true));
  if (!isMigrated) return { reason: 'Rows break the rules of their store.' };
  const columns = await columnsOf(session, mainTable, STORE);
  const reason = await findRefusedRows(session, STORE, { rules, columns });
  return reason === undefined ? { rows, dropped } : { reason };
}

function unknownVersion({ store, archived }: ArchiveImport): ImportedRows {
  const [oldest, newest] = [store.versions.at(0), store.versions.at(-1)];
  const version = archived.schemaVersion === null ? 'no version' : `the version ${archived.schemaVersion}`;
  return {
    concerns: archived.schemaVersion === null ? 'archive' : 'version',
    reason: `The archive has a schema of ${version}, but only ${oldest} to ${newest} are known: restore it with the release that made it, or with a newer one.`,
  };
}

type Shapes = Record<'restored' | 'own', Map<string, Columns>>;

/** Returns a sentence; undefined if all of the version's tables and columns are present. */
function missingTables({ restored, own }: Shapes, version: string): string | undefined {
  const missing = [...own].flatMap(([table, columns]) => {
    const found = restored.get(table);
    if (!found) return [table];
    return [...columns].filter(([name, type]) => found.get(name) !== type).map(([name]) => `${table}.${name}`);
  });
  if (missing.length === 0) return undefined;
  return `The archive lacks ${missing.join(', ')}, which a store of the version ${version} has.`;
}

/** $1: the version. Compared there, because the archive's name may be of any length. */
const LAST_MIGRATION = `select name = $1 as expected from ${RESTORED}.mikro_orm_migrations order by id desc limit 1`;

/** Returns a sentence; undefined if the store's last migration is the archive's version. */
async function otherVersion(session: SqlSession, version: string): Promise<string | undefined> {
  const [last] = await session.run<{ expected: boolean }>(LAST_MIGRATION, [version]);
  return last?.expected ? undefined : `The store in the archive is not of the version ${version}.`;
}

function wouldLose(lost: string[]): ImportedRows {
  return {
    concerns: 'archive',
    reason: `A restore would lose ${lost.join(', ')}, which the store does not have. Set allowLoss to restore without them.`,
  };
}

/**
 * Returns the number of rows. Sequences stay as they are: `complete` advances them, because an id of the archive may be the last
 * possible one.
 */
async function put(session: SqlSession, table: string, columns: string[]): Promise<number> {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const [row] = await session.run<{ count: string }>(`with put as (
        insert into ${STORE}."${table}" (${names}) overriding system value select ${names} from ${RESTORED}."${table}" returning 1
      ) select pg_catalog.count(*)::text as count from put`);
  return Number(row?.count);
}

/** Returns undefined if rows break the rules of the store. */
function unlessBroken<Result>(step: Promise<Result>): Promise<Result | undefined> {
  return step.catch((error: unknown) => (breaksRules(error) ? undefined : Promise.reject(error as Error)));
}

/** PostgreSQL's error classes for invalid values, violated constraints, and values too long for an index. */
function breaksRules(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(2[23]|54)/.test(String(error.code));
}

/** Imports one table of an untrusted dump, after checking its rows. */
export async function importDump({ session, store, rules }: DumpImport): Promise<ImportedRows> {
  const { table, columns, required, tables, duplicates } = rules;
  const found = await columnsOf(session, table);
  const reason =
    findMissingColumns(table, required, found) ?? (await findRefusedRows(session, RESTORED, { rules, columns: found }));
  if (reason !== undefined) return { reason };
  await store.migrate();
  const kept = { [table]: Object.keys(columns) };
  const dropped = await findLostColumns(session, kept, Object.keys(tables));
  try {
    const [row] = await session.run<{ count: string }>(copyInto(rules, found));
    return { rows: { [table]: Number(row?.count) }, dropped };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { reason: duplicates };
  }
}

function copyInto({ table, columns }: StoreRules, found: Columns): string {
  const copied = Object.entries(columns).filter(([name]) => found.has(name));
  const values = copied.map(([name, { type, isVersion }]) => {
    const value = valueOf(found, name, type);
    return isVersion ? versionOrOne(value) : value;
  });
  return `
      with copied as (
        insert into public.${table} (${copied.map(([name]) => name).join(', ')})
        select ${values.join(', ')} from ${RESTORED}.${table} r
        returning 1
      )
      select count(*)::text as count from copied`;
}
