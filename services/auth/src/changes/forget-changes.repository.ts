import type { EntityManager } from '@mikro-orm/core';
import { ResetTokenEntity } from '../recovery/reset-token.entity.ts';
import { AccountMailEntity } from './account-mail.entity.ts';
import { EmailTokenEntity } from './email-token.entity.ts';

/**
 * Inside the caller's transaction: what was mailed to change the account's password or address works no more, and what was
 * not mailed yet stays here. A new password or a new address is an end to what anybody else has begun.
 */
export async function forgetChanges(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(ResetTokenEntity, { accountId });
  await forgetEmailChange(em, accountId);
}

/** Of these only what would change the address. */
export async function forgetEmailChange(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(AccountMailEntity, { accountId, kind: 'email.confirm' });
  await em.nativeDelete(EmailTokenEntity, { accountId });
}
