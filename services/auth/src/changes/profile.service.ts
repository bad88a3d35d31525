import type { Clock } from '@taskmesh/service';
import { changeNameInput, parseInput } from '@taskmesh/validation';
import type { Account } from '../accounts/account.entity.ts';
import { accountIsGone } from '../accounts/accounts.errors.ts';
import type { RequestOrigin } from '../audit/request-origin.ts';
import type { ChangesRepository } from './changes.repository.ts';

export interface ProfileService {
  /** @throws AppError BAD_USER_INPUT */
  changeName(user: { userId: string; sessionId: string }, name: string, origin: RequestOrigin): Promise<Account>;
}

export interface ProfileServiceDeps {
  repository: ChangesRepository;
  clock: Clock;
}

export function createProfileService({ repository, clock }: ProfileServiceDeps): ProfileService {
  return {
    async changeName({ userId, sessionId }, given, origin) {
      const { name } = parseInput(changeNameInput, { name: given });
      return repository.inTransaction(async (transaction) => {
        const account = await transaction.lockAccount(userId);
        if (!account) throw accountIsGone();
        const now = new Date(clock.now());
        account.name = name;
        account.updatedAt = now;
        transaction.record({ kind: 'name.changed', at: now, accountId: userId, sessionId, origin });
        return account;
      });
    },
  };
}
