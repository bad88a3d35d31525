import { LockMode, type EntityManager } from '@mikro-orm/core';
import { whileAway, type Database } from '@taskmesh/database';
import { AccountEntity } from '../accounts/account.entity.ts';
import { recordAuditEntry, type AuditFact } from '../audit/audit.repository.ts';
import { claimFrom } from '../mails/claim.ts';
import { endAllSessions, type SessionsToEnd } from '../sessions/ended-session.repository.ts';
import { ownerLocks } from '../sessions/owner-locks.repository.ts';
import { AccountMailEntity, type AccountMail } from './account-mail.entity.ts';
import { EmailTokenEntity, type EmailToken } from './email-token.entity.ts';
import { revokeChanges, revokeEmailChange } from './revoke-changes.repository.ts';

export type ChangesRepository = ReturnType<typeof createChangesRepository>;
/** The operations within a transaction. Changes to loaded entities are saved with it. */
export type ChangesTransaction = ReturnType<typeof changesTransaction>;
/** A mail that has not been tried yet. */
export type NewMail = Omit<AccountMail, 'attempts' | 'nextAttemptAt'>;

const CLAIM_MAIL = claimFrom('account_mails');

export function createChangesRepository(database: Database) {
  /** For statements that can safely be repeated. */
  const again = <Result>(work: () => Promise<Result>) => whileAway({ kind: 'read' }, work);

  return {
    /** Runs `work` atomically. Retries it if the database was unavailable and certainly changed nothing. */
    inTransaction: <Result>(work: (changes: ChangesTransaction) => Promise<Result>): Promise<Result> =>
      whileAway({ kind: 'write' }, () => database.em().transactional((em) => work(changesTransaction(em)))),

    findEmailToken: (hash: string, now: Date) =>
      again(() => database.em().findOne(EmailTokenEntity, { hash, expiresAt: { $gt: now } })),

    findAccount: (id: string) => again(() => database.em().findOne(AccountEntity, id)),
    findAccountByKey: (emailKey: string) => again(() => database.em().findOne(AccountEntity, { emailKey })),

    /** Claims the mail that has been due the longest, until `until`, and returns its id. */
    async claimMail(now: Date, until: Date): Promise<string | undefined> {
      const [claimed] = await database.run<{ id: string }>('write', CLAIM_MAIL, [now, until]);
      return claimed?.id;
    },
    findMail: (id: string) => again(() => database.em().findOne(AccountMailEntity, id)),
    postponeMail: (id: string, nextAttemptAt: Date) =>
      again(() => database.em().nativeUpdate(AccountMailEntity, { id }, { nextAttemptAt })),
    removeMail: (id: string) => again(() => database.em().nativeDelete(AccountMailEntity, { id })),
  };
}

function changesTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    ...ownerLocks(em),
    endAllSessions: (which: SessionsToEnd) => endAllSessions(em, which),
    addMail: (mail: NewMail): unknown =>
      em.persist(em.create(AccountMailEntity, { ...mail, attempts: 0, nextAttemptAt: mail.createdAt })),
    lockMail: (id: string) => em.findOne(AccountMailEntity, id, locked),
    addEmailToken: (token: EmailToken): unknown => em.persist(em.create(EmailTokenEntity, token)),
    findEmailToken: (hash: string, accountId: string, now: Date) =>
      em.findOne(EmailTokenEntity, { hash, accountId, expiresAt: { $gt: now } }),
    revokeChanges: (accountId: string) => revokeChanges(em, accountId),
    revokeEmailChange: (accountId: string) => revokeEmailChange(em, accountId),
    record: (fact: AuditFact) => recordAuditEntry(em, fact),
  };
}
