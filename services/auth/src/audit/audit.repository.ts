import type { EntityManager } from '@mikro-orm/core';
import { AuditEntryEntity } from './audit-entry.entity.ts';
import type { RequestOrigin } from './request-origin.ts';

/** Everything that the trail can tell. No secrets, no addresses: the account's id is enough to find them. */
export type AuditKind =
  | 'account.created'
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

/** Writes the fact with the rest of the unit of work. */
export function recordFact(em: EntityManager, { kind, at, accountId, sessionId, origin }: AuditFact): void {
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
