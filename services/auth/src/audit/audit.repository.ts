import type { Database } from '@taskmesh/store';
import { AuditEntryEntity, type AuditEntry } from './audit-entry.entity.ts';

export type AuditRepository = ReturnType<typeof createAuditRepository>;

export function createAuditRepository(database: Pick<Database, 'retry'>) {
  return {
    /** An account's entries, newest first, with ids below `after`. */
    list: (accountId: string, limit: number, after: string | null): Promise<AuditEntry[]> =>
      database.retry((em) =>
        em.find(
          AuditEntryEntity,
          { accountId, ...(after !== null && { id: { $lt: after } }) },
          { orderBy: { id: 'desc' }, limit },
        ),
      ),
  };
}
