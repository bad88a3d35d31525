import type { Database } from '@taskmesh/store';
import { AccountEntity } from '../accounts/account.entity.ts';
import { REQUEST_RECOVERY } from '../accounts/account.statements.ts';
import { claimFrom, createMailQueue } from '../mails/mail-queue.ts';
import { RecoveryRequestEntity, ResetTokenEntity, type RecoveryRequest } from './recovery.entities.ts';

export type RecoveryRepository = ReturnType<typeof createRecoveryRepository>;
const CLAIM_REQUEST = claimFrom('recovery_requests');

export function createRecoveryRepository(database: Database) {
  return {
    async request({ id, emailKey, ip, requestId, createdAt }: Omit<RecoveryRequest, 'attempts' | 'nextAttemptAt'>) {
      await database.run('write', REQUEST_RECOVERY, [id, emailKey, ip, requestId, createdAt]);
    },

    mails: createMailQueue(database, RecoveryRequestEntity, { claim: CLAIM_REQUEST }),

    findAccountByToken: (hash: string, now: Date) =>
      database.retry(async (em) => {
        const token = await em.findOne(ResetTokenEntity, { hash, expiresAt: { $gt: now } });
        return token && em.findOne(AccountEntity, token.accountId);
      }),
  };
}
