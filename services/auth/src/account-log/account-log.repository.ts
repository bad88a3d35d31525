import { openLockSession, readBacklog, type Backlog, type Database } from '@taskmesh/store';
import type { AccountDeleted } from '@taskmesh/contracts';
import type { AccountChanges, AccountLogPosition } from '@taskmesh/internal-api';
import {
  BACKLOG,
  ENTRIES_AFTER,
  LOCK,
  LOCK_CLASS,
  MARK_PUBLISHED,
  NEW_EPOCH,
  UNPUBLISHED,
} from './account-log.statements.ts';

type EntriesAfterRow = { epoch: number; head: number } & (AccountDeleted | { sequence: null });

export type AccountLogRepository = ReturnType<typeof createAccountLogRepository>;
/** The right to publish the log. One database session holds it at a time. */
export type AccountLogLease = Awaited<ReturnType<AccountLogRepository['openLease']>>;

export function createAccountLogRepository(database: Pick<Database, 'run' | 'openSession'>) {
  return {
    async openLease() {
      const session = await openLockSession(database);
      return {
        isSafe: session.isSafe,
        close: session.close,
        /** Returns false while another session holds the lease. */
        claim: async () => (await session.claim(LOCK_CLASS, [LOCK])).length > 0,
        /** The oldest unpublished entries, in order. */
        unpublished: (limit: number) => session.run<AccountDeleted>(UNPUBLISHED, [limit]),
        /** Marks all entries up to this one. */
        async markPublished(sequence: number): Promise<void> {
          await session.run(MARK_PUBLISHED, [sequence]);
        },
      };
    },

    /** How far the event log lags behind the account log. */
    backlog: (): Promise<Backlog> => readBacklog(database, BACKLOG),

    /** Begins and returns the next epoch, which is at least `lowest`. */
    async beginEpoch(lowest: number): Promise<number> {
      const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [lowest]);
      if (!state) throw new Error('The store has no state of its account log.');
      return state.epoch;
    },

    async entriesAfter({ epoch, sequence }: AccountLogPosition, limit: number): Promise<AccountChanges> {
      const rows = await database.run<EntriesAfterRow>('read', ENTRIES_AFTER, [epoch, sequence, limit]);
      return {
        epoch: rows[0]?.epoch ?? 0,
        head: rows[0]?.head ?? 0,
        changes: rows.flatMap(({ head: _, ...entry }) => (entry.sequence === null ? [] : [entry])),
      };
    },
  };
}
