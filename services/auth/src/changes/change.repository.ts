import { LockMode, type EntityManager } from '@mikro-orm/core';
import { transactionsOf, type Database } from '@taskmesh/store';
import { accountChange, revokeChanges, revokeEmailChange } from '../accounts/account-change.repository.ts';
import { AccountEntity } from '../accounts/account.entity.ts';
import { ACCOUNT_MAIL_KINDS, AccountMailEntity, EmailTokenEntity, type EmailToken } from './change.entities.ts';
import { createMailQueue } from '../mails/mail-queue.ts';
import { CLAIM_MAIL } from '../accounts/account.statements.ts';

export type ChangeRepository = ReturnType<typeof createChangeRepository>;

export function createChangeRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, changesTransaction),

    findEmailToken: (hash: string, now: Date) =>
      database.retry((em) => em.findOne(EmailTokenEntity, { hash, expiresAt: { $gt: now } })),

    findAccountByKey: (emailKey: string) => database.retry((em) => em.findOne(AccountEntity, { emailKey })),

    mails: createMailQueue(database, AccountMailEntity, { claim: CLAIM_MAIL, values: [ACCOUNT_MAIL_KINDS] }),
  };
}

function changesTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    ...accountChange(em),
    lockMail: (id: string) => em.findOne(AccountMailEntity, id, locked),
    addEmailToken: (token: EmailToken): unknown => em.persist(em.create(EmailTokenEntity, token)),
    findEmailToken: (hash: string, accountId: string, now: Date) =>
      em.findOne(EmailTokenEntity, { hash, accountId, expiresAt: { $gt: now } }),
    revokeChanges: (accountId: string) => revokeChanges(em, accountId),
    revokeEmailChange: (accountId: string) => revokeEmailChange(em, accountId),
  };
}
