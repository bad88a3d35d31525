import type { EntityManager } from '@mikro-orm/core';
import type { Database } from '@taskmesh/store';
import type { RequestOrigin } from '@taskmesh/internal-api';
import { AuditEntryEntity, type AuditEntry } from './audit-entry.entity.ts';
import { ERASE_TRAIL, ERASED_AT_ONCE, IS_HOUSEKEEPING } from './audit.statements.ts';

/** All kinds of entries. They contain no secrets and no e-mail addresses, which can be looked up by account id. */
export type AuditKind =
  | 'account.created'
  /** All that is left of an account's trail. */
  | 'account.deleted'
  | 'session.opened'
  | 'session.refreshed'
  | 'session.ended'
  | 'session.refresh_token_reused'
  | 'login.failed'
  | 'recovery.requested'
  | 'recovery.mail_sent'
  | 'password.reset'
  | 'password.changed'
  | 'name.changed'
  | 'email.change_requested'
  | 'email.changed'
  | 'identity.linked'
  | 'identity.unlinked'
  /** `sessionId` is the token's. */
  | 'token.created'
  | 'token.ended';

export interface AuditFact {
  kind: AuditKind;
  at: Date;
  accountId?: string;
  sessionId?: string;
  origin: Pick<RequestOrigin, 'ip' | 'requestId'>;
}

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

/** Writes the fact as part of the current unit of work. */
export function recordAuditEntry(em: EntityManager, { kind, at, accountId, sessionId, origin }: AuditFact): void {
  em.persist(
    em.create(AuditEntryEntity, {
      kind,
      at,
      accountId: accountId ?? null,
      sessionId: sessionId ?? null,
      ip: origin.ip,
      requestId: origin.requestId,
    }),
  );
}

/** Below all ids, also those that a restore has put before the first one. */
const BEFORE_ALL = '-9223372036854775808';

/** Inside the caller's transaction: nothing is known any more of what happened to the account. */
export async function eraseTrail(em: EntityManager, accountId: string): Promise<void> {
  const [connection, transaction] = [em.getConnection(), em.getTransactionContext()];
  await connection.execute(IS_HOUSEKEEPING, [], 'run', transaction);
  for (let last = BEFORE_ALL; ;) {
    const values = [accountId, last];
    const [gone] = await connection.execute<{ count: number; last: string }[]>(ERASE_TRAIL, values, 'all', transaction);
    if (!gone || gone.count < ERASED_AT_ONCE) return;
    ({ last } = gone);
  }
}
