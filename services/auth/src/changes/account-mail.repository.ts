import type { EntityManager } from '@mikro-orm/core';
import type { AuditFact } from '../audit/audit.repository.ts';
import { AccountMailEntity, type AccountMail } from './account-mail.entity.ts';

/** A mail about a change, which was made at this time, from there. */
export type NewMail = Pick<AccountMail, 'id' | 'accountId' | 'kind' | 'recipient'> & Pick<AuditFact, 'at' | 'origin'>;

/** Within the caller's transaction: puts a mail into the outbox, due at once. */
export function addMail(em: EntityManager, { at, origin: { ip, requestId }, ...mail }: NewMail): void {
  em.persist(em.create(AccountMailEntity, { ...mail, ip, requestId, createdAt: at, attempts: 0, nextAttemptAt: at }));
}
