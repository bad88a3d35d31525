import { LockMode, type EntityManager } from '@mikro-orm/core';
import { transactionsOf, type Database } from '@taskmesh/database';
import { accountChange } from '../accounts/account-change.repository.ts';
import { AccountEntity } from '../accounts/account.entity.ts';
import { revokeChanges } from '../changes/begun-change.repository.ts';
import { claimFrom } from '../mails/mail.statements.ts';
import { LinkedIdentityEntity, type LinkedIdentity } from '../oidc/linked-identity.entity.ts';
import { tokensToEnd } from '../personal-tokens/ended-token.repository.ts';
import { RecoveryRequestEntity, type RecoveryRequest } from './recovery-request.entity.ts';
import { REQUEST_RECOVERY } from './recovery.statements.ts';
import { ResetTokenEntity, type ResetToken } from './reset-token.entity.ts';

export type RecoveryRepository = ReturnType<typeof createRecoveryRepository>;
const CLAIM_REQUEST = claimFrom('recovery_requests');

export type RecoveryTransaction = ReturnType<typeof recoveryTransaction>;

export function createRecoveryRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, recoveryTransaction),

    async request({ id, emailKey, ip, requestId, createdAt }: Omit<RecoveryRequest, 'attempts' | 'nextAttemptAt'>) {
      await database.run('write', REQUEST_RECOVERY, [id, emailKey, ip, requestId, createdAt]);
    },

    /** Claims the request that has been due the longest, until `until`, and returns its id. */
    async claim(now: Date, until: Date): Promise<string | undefined> {
      const [claimed] = await database.run<{ id: string }>('write', CLAIM_REQUEST, [now, until]);
      return claimed?.id;
    },

    find: (id: string) => database.retry((em) => em.findOne(RecoveryRequestEntity, id)),

    postpone: (id: string, nextAttemptAt: Date) =>
      database.retry((em) => em.nativeUpdate(RecoveryRequestEntity, { id }, { nextAttemptAt })),

    remove: (id: string) => database.retry((em) => em.nativeDelete(RecoveryRequestEntity, { id })),

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
