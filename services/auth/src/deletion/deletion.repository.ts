import type { EntityManager } from '@mikro-orm/core';
import { transactionsOf, type Database } from '@taskmesh/store';
import { appendDeleted } from '../account-log/account-log.repository.ts';
import { accountChange } from '../accounts/account-change.repository.ts';
import { AccountEntity } from '../accounts/account.entity.ts';
import { eraseTrail } from '../audit/audit.repository.ts';
import { tokensToEnd } from '../personal-tokens/personal-token.repository.ts';
import { RecoveryRequestEntity } from '../recovery/recovery.entities.ts';

export type DeletionRepository = ReturnType<typeof createDeletionRepository>;

export function createDeletionRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, deletionTransaction),
  };
}

function deletionTransaction(em: EntityManager) {
  return {
    ...accountChange(em),
    ...tokensToEnd(em),
    eraseTrail: (accountId: string) => eraseTrail(em, accountId),
    /** Recovery mails that were requested for the address. */
    forgetRecoveries: (emailKey: string) => em.nativeDelete(RecoveryRequestEntity, { emailKey }),
    appendDeleted: (accountId: string, now: Date) => appendDeleted(em, accountId, now),
    /** Deletes the account and all rows that belong to it. */
    remove: (id: string) => em.nativeDelete(AccountEntity, { id }),
  };
}
