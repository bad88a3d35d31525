import type { EntityManager } from '@mikro-orm/core';
import { ResetTokenEntity } from '../recovery/reset-token.entity.ts';
import { AccountMailEntity } from './account-mail.entity.ts';
import { EmailTokenEntity } from './email-token.entity.ts';

/**
 * Within the caller's transaction: invalidates mailed tokens that could change the account's password or address, and
 * cancels such mails that have not been sent. A new password or address ends everything that an intruder may have
 * begun.
 */
export async function revokeChanges(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(ResetTokenEntity, { accountId });
  await revokeEmailChange(em, accountId);
}

/** The same, but only for changes of the address. */
export async function revokeEmailChange(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(AccountMailEntity, { accountId, kind: 'email.confirm' });
  await em.nativeDelete(EmailTokenEntity, { accountId });
}
