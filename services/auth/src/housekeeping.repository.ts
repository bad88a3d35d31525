import type { Database, Statement } from '@taskmesh/store';
import { IS_HOUSEKEEPING } from './audit/audit.statements.ts';
import * as statements from './housekeeping.statements.ts';

/** Removes a batch. Returns whether it was a full one, so that more may be left. */
type RemoveBatch<Values extends unknown[] = [before: Date]> = (...values: Values) => Promise<boolean>;

/** What may be removed, each by batches of its own. */
export type HousekeepingRepository = ReturnType<typeof createHousekeepingRepository>;

export function createHousekeepingRepository(database: Pick<Database, 'run' | 'retry'>) {
  const expired =
    (statement: Statement): RemoveBatch =>
    async (before) =>
      isFull(await database.run('read', statement, [before])); // safe to repeat

  const entries =
    <Values extends unknown[] = [before: Date]>(text: string): RemoveBatch<Values> =>
    (...values) =>
      database.retry((fork) =>
        fork.transactional(async (em) => {
          const [connection, transaction] = [em.getConnection(), em.getTransactionContext()];
          await connection.execute(IS_HOUSEKEEPING, [], 'run', transaction);
          return isFull(await connection.execute(text, values, 'all', transaction));
        }),
      );

  return {
    /** In Unix milliseconds. */
    async databaseTime(): Promise<number> {
      const [row] = await database.run<{ ms: string }>('read', statements.DATABASE_TIME, []);
      return Number(row?.ms);
    },
    /** By table. */
    removeExpired: new Map([...statements.EXPIRED].map(([table, statement]) => [table, expired(statement)])),
    removeOldEntries: entries(statements.OLD_ENTRIES),
    removeOldFrequentEntries: entries(statements.OLD_FREQUENT_ENTRIES),
    /** Entries of accounts that were deleted after this moment, written while that happened. */
    removeEntriesOfDeleted: entries(statements.ENTRIES_OF_DELETED),
    removeStrangersEntries: entries<[]>(statements.STRANGERS_ENTRIES),
  };
}

function isFull(rows: unknown[]): boolean {
  return rows.length === statements.BATCH;
}
