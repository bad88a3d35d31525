import { LockMode, type EntityManager } from '@mikro-orm/core';
import { whileAway, type Database } from '@taskmesh/database';
import { appendDeleted } from '../account-log/account-log.repository.ts';
import { AccountEntity } from '../accounts/account.entity.ts';
import { eraseTrail, recordAuditEntry, type AuditFact } from '../audit/audit.repository.ts';
import { AccountMailEntity, type AccountMail } from '../changes/account-mail.entity.ts';
import { endOfToken } from '../personal-tokens/ended-token.repository.ts';
import { PersonalTokenEntity, type PersonalToken } from '../personal-tokens/personal-token.entity.ts';
import { RecoveryRequestEntity } from '../recovery/recovery-request.entity.ts';
import { listEnded } from '../sessions/ended-session.repository.ts';
import { SessionEntity, type Session } from '../sessions/session.entity.ts';

export type DeletionRepository = ReturnType<typeof createDeletionRepository>;

export function createDeletionRepository(database: Database) {
  return {
    /** All or nothing. Repeated if the database was unavailable and certainly did nothing. */
    inTransaction: <Result>(
      work: (deletion: ReturnType<typeof deletionTransaction>) => Promise<Result>,
    ): Promise<Result> =>
      whileAway({ kind: 'write' }, () => database.em().transactional((em) => work(deletionTransaction(em)))),
  };
}

function deletionTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const inOrder = { ...locked, orderBy: { id: 'asc' } } as const;
  return {
    lockAccount: (id: string) => em.findOne(AccountEntity, id, locked),
    lockSessions: (accountId: string) => em.find(SessionEntity, { accountId, endedAt: null }, inOrder),
    lockPersonalTokens: (accountId: string) => em.find(PersonalTokenEntity, { accountId }, inOrder),
    eraseTrail: (accountId: string) => eraseTrail(em, accountId),
    record: (fact: AuditFact) => recordAuditEntry(em, fact),
    addMail: (mail: Omit<AccountMail, 'attempts' | 'nextAttemptAt'>): unknown =>
      em.persist(em.create(AccountMailEntity, { ...mail, attempts: 0, nextAttemptAt: mail.createdAt })),
    /** Deletes the account, all rows that belong to it, and recovery mails requested for its address. */
    async remove(id: string, emailKey: string): Promise<void> {
      await em.nativeDelete(RecoveryRequestEntity, { emailKey });
      await em.nativeDelete(AccountEntity, { id });
    },
    appendDeleted: (accountId: string, now: Date) => appendDeleted(em, accountId, now),
    /** Adds sessions and tokens to the list from which gateways learn that they have ended. */
    listEnded: ({ sessions, tokens }: { sessions: Session[]; tokens: PersonalToken[] }, now: Date) =>
      listEnded(
        em,
        [
          ...sessions.map(({ id, tokensUntil }) => ({ sessionId: id, until: tokensUntil })),
          ...tokens.map((token) => endOfToken(token, now)),
        ],
        now,
      ),
  };
}
