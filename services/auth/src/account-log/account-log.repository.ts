import type { EntityManager } from '@mikro-orm/core';
import type { Database } from '@taskmesh/database';
import type { AccountDeleted } from '@taskmesh/events';
import type { AccountChanges, AccountLogPosition } from '@taskmesh/internal-api';
import { APPEND_DELETED, ENTRIES_AFTER } from './account-log.statements.ts';

export interface EntryRow {
  epoch: number;
  sequence: string;
  account_id: string;
  kind: AccountDeleted['kind'];
  occurred_at: string;
}

type EntriesAfterRow = { epoch: number; head: string } & (EntryRow | { sequence: null });

export function createAccountLogRepository(database: Pick<Database, 'run'>) {
  return {
    async entriesAfter({ epoch, sequence }: AccountLogPosition, limit: number): Promise<AccountChanges> {
      const rows = await database.run<EntriesAfterRow>('read', ENTRIES_AFTER, [epoch, sequence, limit]);
      return {
        epoch: rows[0]?.epoch ?? 0,
        head: Number(rows[0]?.head ?? 0),
        changes: rows.flatMap((row) => (row.sequence === null ? [] : [entryOf(row)])),
      };
    },
  };
}

export function entryOf({ epoch, sequence, account_id, kind, occurred_at }: EntryRow): AccountDeleted {
  return { kind, epoch, sequence: Number(sequence), accountId: account_id, occurredAt: occurred_at };
}

/** Runs inside the caller's transaction. Only the list of ended sessions may be locked after it. */
export async function appendDeleted(em: EntityManager, accountId: string, now: Date): Promise<void> {
  await em.getConnection().execute(APPEND_DELETED, [accountId, now], 'run', em.getTransactionContext());
}
