import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { changeNameInput, parseInput } from '@taskmesh/contracts';
import type { Caller } from '../accounts/account-change.repository.ts';
import type { Account } from '../accounts/account.entity.ts';
import type { Limits } from '../rate-limits.ts';
import { lockOwner } from '../sessions/lock-owner.ts';
import type { ChangeRepository } from './change.repository.ts';

export interface ProfileService {
  /** @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session or personal token has ended meanwhile */
  changeName(caller: Caller, name: string, origin: RequestOrigin): Promise<Account>;
}

export interface ProfileServiceDeps {
  repository: ChangeRepository;
  limits: Pick<Limits, 'countChange'>;
  clock: Clock;
}

export function createProfileService({ repository, limits, clock }: ProfileServiceDeps): ProfileService {
  return {
    async changeName(caller, given, origin) {
      const { name } = parseInput(changeNameInput, { name: given });
      await limits.countChange(caller.userId, 'name');
      return repository.inTransaction(async (transaction) => {
        const account = await lockOwner(transaction, caller);
        const now = new Date(clock.now());
        account.name = name;
        account.updatedAt = now;
        const { userId: accountId, sessionId } = caller;
        transaction.record({ kind: 'name.changed', at: now, accountId, sessionId, origin });
        return account;
      }, caller.userId);
    },
  };
}
