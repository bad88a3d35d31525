import { conflict, parseInput, unavailable } from '@taskmesh/contracts';
import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { IMPORT_MS, type ArchivedStore, type ImportResult } from '@taskmesh/internal-api';
import { withoutValues } from '@taskmesh/pg-rows/without-values';
import { ConfigError, type Log } from '@taskmesh/service';
import { z } from 'zod';
import { databaseOf, inDatabase } from '../database/connection.ts';
import { inTransaction, openSession, type SqlSession } from '../database/session.ts';
import { SQL_STATE } from '../database/sql-state.ts';
import { importArchive, importDump } from './import-archive.ts';
import {
  CREATE_IS_VALUE,
  RESTORED,
  findTooManyColumns,
  type StoreDatabase,
  type StoreRules,
  type Stores,
} from './restored-tables.ts';

export interface ImporterOptions {
  name: string;
  /** The URL of the live store; the restored database is on the same server. */
  url: string;
  /** Opens the service's database at another URL; does not connect yet. */
  databaseAt(url: string): Promise<StoreDatabase>;
  rules: StoreRules;
  log: Log;
}

/** Rows do not pass through this process, unless a service's own rules read them. */
export function createImporter({ name, url, databaseAt, rules, log }: ImporterOptions) {
  const databaseName = z
    .string()
    .regex(/^[^\0]{1,63}$/, 'This cannot be the name of a database.')
    .refine((value) => value !== databaseOf(url), 'The live store cannot be imported.');

  const targetOf = (database: string): string => inDatabase(url, parseInput(databaseName, database));

  const withSession = async <Result>(at: string, work: (session: SqlSession) => Promise<Result>): Promise<Result> => {
    const session = await openImportSession(at, { name, timeoutMs: IMPORT_MS });
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  };

  /** @throws AppError BAD_USER_INPUT when `database` is the live store itself; SERVICE_UNAVAILABLE when a privilege is missing */
  const withStores = async <Result>(database: string, work: (stores: Stores) => Promise<Result>) =>
    withSession(targetOf(database), (to) => withSession(url, (from) => work({ from, to }))).catch((error: unknown) => {
      throw explain(error);
    });

  const withDatabase = async <Result>(database: string, work: (store: StoreDatabase) => Promise<Result>) => {
    const store = await databaseAt(targetOf(database));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };

  const importRows = async (
    stores: Stores,
    store: StoreDatabase,
    archived: ArchivedStore | null | undefined,
  ): Promise<ImportResult> => {
    const { to: session } = stores;
    const tooMany = await findTooManyColumns(session);
    if (tooMany !== undefined) return { complete: false, reason: tooMany };
    const from = { session, store, rules };
    const imported = archived ? await importArchive({ ...from, archived }) : await importDump(from);
    if ('reason' in imported) return { complete: false, ...imported };
    await inTransaction(session, async () => {
      await rules.complete(stores, archived ? 'archive' : 'dump');
      await session.run(`drop schema ${RESTORED} cascade`);
      // Gives the first reads after the swap accurate statistics for their plans.
      await session.run(`analyze public.${rules.table}`);
    });
    return { complete: true, ...imported };
  };

  return {
    withStores,
    /** Turns a database loaded from a backup into a store that can replace the live one. */
    async importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult> {
      const result = await withStores(database, (stores) =>
        withDatabase(database, (store) => importRows(stores, store, archived)),
      );
      log.info({ database, ...result }, 'examined a restored database');
      return result;
    },
    /** Migrates a database that was the live store before a restore, so that it can be the live store again. */
    resume: (database: string, work?: (stores: Stores) => Promise<void>) =>
      withStores(database, async (stores) => {
        await withDatabase(database, (store) => store.migrate());
        await work?.(stores);
      }),
  };
}

/**
 * Opens a session in a database that was loaded from a backup, or in the live one during an import. The database's own settings
 * have no effect: unqualified names mean PostgreSQL's own objects, and no statement outlives `timeoutMs`, even if this process
 * dies. Errors never contain values of rows.
 */
export async function openImportSession(
  url: string,
  { name, timeoutMs }: { name: string; timeoutMs: number },
): Promise<SqlSession> {
  const settings = {
    search_path: 'pg_catalog,pg_temp',
    statement_timeout: String(timeoutMs),
    lock_timeout: '30s',
    default_transaction_read_only: 'off', // an operator may have frozen the store until it is restored
  };
  const session = await openSession({ url, name, settings, timeoutMs });
  const refuse = (error: unknown): never => {
    throw withoutValues(error);
  };
  try {
    await session.run(CREATE_IS_VALUE);
  } catch (error) {
    await session.close();
    throw error;
  }
  return { ...session, run: (statement, values) => session.run<never>(statement, values).catch(refuse) };
}

const DAMAGE_CODES = new Set<string>([SQL_STATE.undefinedTable, SQL_STATE.dataCorrupted, SQL_STATE.indexCorrupted]);

/**
 * Explains to the operator that the service's own user lacks a privilege that an import needs, or that a store is damaged: the
 * archive is fine, and trying again does not help. Returns other errors unchanged. PostgreSQL's messages of these kinds name only
 * objects, and those of migrations (ConfigError) are written for people.
 */
function explain(error: unknown): unknown {
  if (error instanceof ConfigError) return unavailable(`${error.problems.join('. ')}.`, error);
  if (DAMAGE_CODES.has(errorCode(error)))
    return conflict(`A store is damaged: ${errorMessage(error)}. How to replace a live one: docs/backup.md.`);
  if (errorCode(error) !== SQL_STATE.insufficientPrivilege) return error;
  return unavailable(
    `The service's user (POSTGRES_URL) lacks privileges to import the store: ${errorMessage(error)}. The user must own the database.`,
    error,
  );
}
