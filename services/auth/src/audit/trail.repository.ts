import type { InferEntity } from '@mikro-orm/core';
import type { Database } from '@taskmesh/database';
import { AuditEntryEntity } from './audit-entry.entity.ts';

export type AuditEntry = InferEntity<typeof AuditEntryEntity>;

export interface TrailRepository {
  /** An account's entries, newest first, with ids below `after`. */
  list(accountId: string, limit: number, after: string | null): Promise<AuditEntry[]>;
}

export function createTrailRepository(database: Database): TrailRepository {
  return {
    list: (accountId, limit, after) =>
      database.retry((em) =>
        em.find(
          AuditEntryEntity,
          { accountId, ...(after !== null && { id: { $lt: after } }) },
          { orderBy: { id: 'desc' }, limit },
        ),
      ),
  };
}
