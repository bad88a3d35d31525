import type { EntityManager } from '@mikro-orm/core';
import { AccountMailEntity, type AccountMail } from './account-mail.entity.ts';

/** A mail that has not been tried yet. */
export type NewMail = Omit<AccountMail, 'attempts' | 'nextAttemptAt'>;

/** Within the caller's transaction: puts a mail into the outbox, due at once. */
export function addMail(em: EntityManager, mail: NewMail): void {
  em.persist(em.create(AccountMailEntity, { ...mail, attempts: 0, nextAttemptAt: mail.createdAt }));
}
