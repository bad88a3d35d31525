import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { Database } from '@taskmesh/database';
import { appendDeleted } from '../account-log/account-log.repository.ts';
import { AccountEntity } from '../accounts/account.entity.ts';
import { eraseTrail, recordAuditEntry, type AuditFact } from '../audit/audit.repository.ts';
import { addMail, type NewMail } from '../changes/account-mail.repository.ts';
import { endTokens } from '../personal-tokens/ended-token.repository.ts';
import { PersonalTokenEntity, type PersonalToken } from '../personal-tokens/personal-token.entity.ts';
import { RecoveryRequestEntity } from '../recovery/recovery-request.entity.ts';
import { endAllSessions, type SessionsToEnd } from '../sessions/ended-session.repository.ts';
import { ownerLocks } from '../sessions/owner-lock.repository.ts';

export type DeletionRepository = ReturnType<typeof createDeletionRepository>;

export function createDeletionRepository(database: Database) {
  return {
    /** All or nothing. Repeated if the database was unavailable and certainly did nothing. */
    inTransaction: <Result>(
      work: (deletion: ReturnType<typeof deletionTransaction>) => Promise<Result>,
    ): Promise<Result> => database.inTransaction((em) => work(deletionTransaction(em))),
  };
}

function deletionTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    ...ownerLocks(em),
    lockPersonalTokens: (accountId: string) =>
      em.find(PersonalTokenEntity, { accountId }, { ...locked, orderBy: { id: 'asc' } }),
    eraseTrail: (accountId: string) => eraseTrail(em, accountId),
    record: (fact: AuditFact) => recordAuditEntry(em, fact),
    addMail: (mail: NewMail) => addMail(em, mail),
    /** Recovery mails that were requested for the address. */
    forgetRecoveries: (emailKey: string) => em.nativeDelete(RecoveryRequestEntity, { emailKey }),
    appendDeleted: (accountId: string, now: Date) => appendDeleted(em, accountId, now),
    endAllSessions: (which: SessionsToEnd) => endAllSessions(em, which),
    endPersonalTokens: (tokens: PersonalToken[], now: Date) => endTokens(em, tokens, now),
    /** Deletes the account and all rows that belong to it. */
    remove: (id: string) => em.nativeDelete(AccountEntity, { id }),
  };
}
