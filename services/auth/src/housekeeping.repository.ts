import type { Database } from '@taskmesh/store';
import { MARK_HOUSEKEEPING } from './audit/audit.statements.ts';
import * as statements from './housekeeping.statements.ts';

/** The times up to which rows are removed. */
export interface Cutoffs {
  expired: Date;
  /** Entries of the audit trail. */
  old: Date;
  /** Failed logins and refreshed sessions. */
  oldFrequent: Date;
  /** Accounts deleted within these times may have entries that were written during the deletion. */
  deleted: [from: Date, to: Date][];
}

export type HousekeepingRepository = ReturnType<typeof createHousekeepingRepository>;

export function createHousekeepingRepository(database: Pick<Database, 'run' | 'retry'>) {
  const isFull = (rows: unknown[]) => rows.length === statements.BATCH;

  const removeEntries = (text: string, values: unknown[]) =>
    database.retry((fork) =>
      fork.transactional(async (em) => {
        const [connection, transaction] = [em.getConnection(), em.getTransactionContext()];
        await connection.execute(MARK_HOUSEKEEPING, [], 'run', transaction);
        return isFull(await connection.execute(text, values, 'all', transaction));
      }),
    );

  return {
    /** In Unix milliseconds. */
    async databaseTime(): Promise<number> {
      const [row] = await database.run<{ ms: string }>('read', statements.DATABASE_TIME, []);
      return Number(row?.ms);
    },
    /** Each removes a batch and returns whether it was full, in which case more rows may be left. */
    removals: ({ expired, old, oldFrequent, deleted }: Cutoffs): (() => Promise<boolean>)[] => [
      ...statements.EXPIRED.map(
        (statement) => async () => isFull(await database.run('read', statement, [expired])), // safe to repeat
      ),
      ...deleted.map((times) => () => removeEntries(statements.ENTRIES_OF_DELETED, times)),
      () => removeEntries(statements.OLD_ENTRIES, [old]),
      () => removeEntries(statements.OLD_FREQUENT_ENTRIES, [oldFrequent]),
      () => removeEntries(statements.ENTRIES_WITHOUT_ACCOUNT, []),
    ],
  };
}
