import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { TokenScope } from '@taskmesh/identity';
import { AccountEntity } from '../accounts/account.entity.ts';
import { PersonalTokenEntity } from '../personal-tokens/personal-token.entity.ts';
import { SessionEntity } from './session.entity.ts';

/** Who asks. With a `scope` they ask with a personal token, and `sessionId` is that token's id. */
export interface Caller {
  userId: string;
  sessionId: string;
  scope?: TokenScope;
}

export type OwnerLocks = ReturnType<typeof ownerLocks>;

/** For transactions by which owners change their accounts: locks the account first, then what the caller asks with. */
export function ownerLocks(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    lockAccount: (id: string) => em.findOne(AccountEntity, id, locked),
    /** The session or personal token; null when it has ended. */
    lockCaller: ({ userId: accountId, sessionId: id, scope }: Caller) =>
      scope === undefined
        ? em.findOne(SessionEntity, { id, accountId, endedAt: null }, locked)
        : em.findOne(PersonalTokenEntity, { id, accountId }, locked),
  };
}
