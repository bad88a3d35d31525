import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { Database } from '@taskmesh/database';
import { AccountEntity } from '../accounts/account.entity.ts';
import { recordAuditEntry, type AuditFact } from '../audit/audit.repository.ts';
import { claimFrom } from '../mails/mail.statements.ts';
import { endAllSessions, type SessionsToEnd } from '../sessions/ended-session.repository.ts';
import { ownerLocks } from '../sessions/owner-lock.repository.ts';
import { AccountMailEntity } from './account-mail.entity.ts';
import { addMail, type NewMail } from './account-mail.repository.ts';
import { EmailTokenEntity, type EmailToken } from './email-token.entity.ts';
import { revokeChanges, revokeEmailChange } from './begun-change.repository.ts';

export type ChangeRepository = ReturnType<typeof createChangeRepository>;
/** The operations within a transaction. Changes to loaded entities are saved with it. */
export type ChangesTransaction = ReturnType<typeof changesTransaction>;

const CLAIM_MAIL = claimFrom('account_mails');

export function createChangeRepository(database: Database) {
  return {
    /** Runs `work` atomically. Retries it if the database was unavailable and certainly changed nothing. */
    inTransaction: <Result>(work: (changes: ChangesTransaction) => Promise<Result>): Promise<Result> =>
      database.inTransaction((em) => work(changesTransaction(em))),

    findEmailToken: (hash: string, now: Date) =>
      database.retry((em) => em.findOne(EmailTokenEntity, { hash, expiresAt: { $gt: now } })),

    findAccount: (id: string) => database.retry((em) => em.findOne(AccountEntity, id)),
    findAccountByKey: (emailKey: string) => database.retry((em) => em.findOne(AccountEntity, { emailKey })),

    /** Claims the mail that has been due the longest, until `until`, and returns its id. */
    async claimMail(now: Date, until: Date): Promise<string | undefined> {
      const [claimed] = await database.run<{ id: string }>('write', CLAIM_MAIL, [now, until]);
      return claimed?.id;
    },
    findMail: (id: string) => database.retry((em) => em.findOne(AccountMailEntity, id)),
    postponeMail: (id: string, nextAttemptAt: Date) =>
      database.retry((em) => em.nativeUpdate(AccountMailEntity, { id }, { nextAttemptAt })),
    removeMail: (id: string) => database.retry((em) => em.nativeDelete(AccountMailEntity, { id })),
  };
}

function changesTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    ...ownerLocks(em),
    endAllSessions: (which: SessionsToEnd) => endAllSessions(em, which),
    addMail: (mail: NewMail) => addMail(em, mail),
    lockMail: (id: string) => em.findOne(AccountMailEntity, id, locked),
    addEmailToken: (token: EmailToken): unknown => em.persist(em.create(EmailTokenEntity, token)),
    findEmailToken: (hash: string, accountId: string, now: Date) =>
      em.findOne(EmailTokenEntity, { hash, accountId, expiresAt: { $gt: now } }),
    revokeChanges: (accountId: string) => revokeChanges(em, accountId),
    revokeEmailChange: (accountId: string) => revokeEmailChange(em, accountId),
    record: (fact: AuditFact) => recordAuditEntry(em, fact),
  };
}
