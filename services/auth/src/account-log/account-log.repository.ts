import type { EntityManager } from '@mikro-orm/core';
import { openLockSession, type LockSession, readBacklog, type Backlog, type Database } from '@taskmesh/store';
import type { AccountDeleted } from '@taskmesh/contracts';
import type { AccountChanges, AccountLogPosition } from '@taskmesh/internal-api';
import {
  APPEND_DELETED,
  BACKLOG,
  ENTRIES_AFTER,
  LOCK,
  LOCK_CLASS,
  MARK_PUBLISHED,
  NEW_EPOCH,
  UNPUBLISHED,
} from './account-log.statements.ts';

interface EntryRow extends Record<string, unknown> {
  epoch: number;
  sequence: string;
  account_id: string;
  kind: AccountDeleted['kind'];
  occurred_at: string;
}

type EntriesAfterRow = { epoch: number; head: string } & (EntryRow | { sequence: null });

/** The right to publish the log, which one session has at a time. */
export interface AccountLogLease extends Pick<LockSession, 'isSafe' | 'close'> {
  /** False when another session has it. */
  claim(): Promise<boolean>;
  /** The oldest entries that are not marked, in order. */
  unpublished(limit: number): Promise<AccountDeleted[]>;
  /** Marks all entries up to this one. */
  markPublished(sequence: number): Promise<void>;
}

export type AccountLogRepository = ReturnType<typeof createAccountLogRepository>;

export function createAccountLogRepository(database: Pick<Database, 'run' | 'openSession'>) {
  return {
    /** `monotonicMs` must advance while the process is frozen. */
    async openLease(options: { monotonicMs: () => number }): Promise<AccountLogLease> {
      const session = await openLockSession(database, options);
      return {
        isSafe: session.isSafe,
        close: session.close,
        claim: async () => (await session.claim(LOCK_CLASS, [LOCK])).length > 0,
        unpublished: async (limit) => (await session.run<EntryRow>(UNPUBLISHED, [limit])).map(entryOf),
        async markPublished(sequence) {
          await session.run(MARK_PUBLISHED, [sequence]);
        },
      };
    },

    /** How far the event log is behind. */
    backlog: (): Promise<Backlog> => readBacklog(database, BACKLOG),

    /** Begins the next epoch, or `lowest` if that is higher. */
    async beginEpoch(lowest: number): Promise<number> {
      const [state] = await database.run<{ epoch: number }>('write', NEW_EPOCH, [lowest]);
      if (!state) throw new Error('The store has no state of its account log.');
      return state.epoch;
    },

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

function entryOf({ epoch, sequence, account_id, kind, occurred_at }: EntryRow): AccountDeleted {
  return { kind, epoch, sequence: Number(sequence), accountId: account_id, occurredAt: occurred_at };
}

/** Runs inside the caller's transaction. Only the list of ended sessions may be locked after it. */
export async function appendDeleted(em: EntityManager, accountId: string, now: Date): Promise<void> {
  await em.getConnection().execute(APPEND_DELETED, [accountId, now], 'run', em.getTransactionContext());
}
