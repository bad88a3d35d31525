import type { Database } from '@taskmesh/store';
import type { AccountChanges, AccountDeleted, AccountLogPosition } from '@taskmesh/internal-api';
import { ENTRIES_AFTER, NEW_EPOCH } from './account-log.statements.ts';

type EntriesAfterRow = { epoch: number; head: number } & (AccountDeleted | { sequence: null });

export function createAccountLogRepository(database: Pick<Database, 'run'>) {
  return {
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
