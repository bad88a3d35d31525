import type { Database } from '@taskmesh/store';
import { CLAIM_MAIL } from '../accounts/account.statements.ts';
import { createMailQueue } from '../mails/mail-queue.ts';
import { ACCOUNT_MAIL_KINDS, AccountMailEntity, EmailTokenEntity } from './change.entities.ts';

export type ChangeRepository = ReturnType<typeof createChangeRepository>;

export function createChangeRepository(database: Database) {
  return {
    findEmailToken: (hash: string, now: Date) =>
      database.retry((em) => em.findOne(EmailTokenEntity, { hash, expiresAt: { $gt: now } })),

    mails: createMailQueue(database, AccountMailEntity, { claim: CLAIM_MAIL, values: [ACCOUNT_MAIL_KINDS] }),
  };
}
