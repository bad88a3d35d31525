import { LockMode, type EntityManager } from '@mikro-orm/core';
import { AccountEntity } from '../accounts/account.entity.ts';
import { SessionEntity } from './session.entity.ts';

/** For transactions by which owners change their accounts: locks the account first, then the session that asks. */
export function ownerLocks(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    lockAccount: (id: string) => em.findOne(AccountEntity, id, locked),
    /** Null when it has ended. */
    lockSession: (id: string, accountId: string) => em.findOne(SessionEntity, { id, accountId, endedAt: null }, locked),
  };
}
