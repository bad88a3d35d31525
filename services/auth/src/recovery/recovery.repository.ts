import { LockMode, type EntityManager } from '@mikro-orm/core';
import { transactionsOf, type Database } from '@taskmesh/store';
import { accountChange, revokeChanges } from '../accounts/account-change.repository.ts';
import { AccountEntity } from '../accounts/account.entity.ts';
import { claimFrom, createMailQueue } from '../mails/mail-queue.ts';
import { LinkedIdentityEntity, type LinkedIdentity } from '../oidc/oidc.entities.ts';
import { tokensToEnd } from '../personal-tokens/personal-token.repository.ts';
import { RecoveryRequestEntity, ResetTokenEntity, type RecoveryRequest, type ResetToken } from './recovery.entities.ts';
import { REQUEST_RECOVERY } from '../accounts/account.statements.ts';

export type RecoveryRepository = ReturnType<typeof createRecoveryRepository>;
const CLAIM_REQUEST = claimFrom('recovery_requests');

export type RecoveryTransaction = ReturnType<typeof recoveryTransaction>;

export function createRecoveryRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, recoveryTransaction),

    async request({ id, emailKey, ip, requestId, createdAt }: Omit<RecoveryRequest, 'attempts' | 'nextAttemptAt'>) {
      await database.run('write', REQUEST_RECOVERY, [id, emailKey, ip, requestId, createdAt]);
    },

    mails: createMailQueue(database, RecoveryRequestEntity, { claim: CLAIM_REQUEST }),

    findAccountByKey: (emailKey: string) => database.retry((em) => em.findOne(AccountEntity, { emailKey })),

    findAccountByToken: (hash: string, now: Date) =>
      database.retry(async (em) => {
        const token = await em.findOne(ResetTokenEntity, { hash, expiresAt: { $gt: now } });
        return token && em.findOne(AccountEntity, token.accountId);
      }),
  };
}

function recoveryTransaction(em: EntityManager) {
  return {
    ...accountChange(em),
    ...tokensToEnd(em),
    removeRequest: (id: string) => em.nativeDelete(RecoveryRequestEntity, { id }),
    addToken: (token: ResetToken): unknown => em.persist(em.create(ResetTokenEntity, token)),
    findToken: (hash: string, accountId: string, now: Date) =>
      em.findOne(ResetTokenEntity, { hash, accountId, expiresAt: { $gt: now } }),
    revokeChanges: (accountId: string) => revokeChanges(em, accountId),
    lockLinked: (accountId: string) =>
      em.find(LinkedIdentityEntity, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } }),
    removeLinked: (linked: LinkedIdentity): unknown => em.remove(linked),
  };
}
