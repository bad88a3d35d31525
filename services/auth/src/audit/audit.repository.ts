import type { SharedDatabase } from '@taskmesh/store';
import { ENTRIES_OF_ACCOUNT } from '../accounts/account.statements.ts';

/** As its owner sees it. The time is in RFC 3339. */
export interface ListedEntry {
  id: string;
  at: string;
  kind: string;
  sessionId: string | null;
  ip: string | null;
}

export type AuditRepository = ReturnType<typeof createAuditRepository>;

export function createAuditRepository(database: SharedDatabase) {
  return {
    /** An account's entries, newest first, with ids below `after`. */
    list: (accountId: string, limit: number, after: string | null) =>
      database.run<ListedEntry>('read', ENTRIES_OF_ACCOUNT, [accountId, limit, after], accountId),
  };
}
