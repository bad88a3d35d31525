import type { KnownToken } from '@taskmesh/internal-api';
import type { Database } from '@taskmesh/store';
import { FIND_TOKEN } from '../accounts/account.statements.ts';
import { PersonalTokenEntity } from './personal-token.entity.ts';

export type PersonalTokenRepository = ReturnType<typeof createPersonalTokenRepository>;

export function createPersonalTokenRepository(database: Database) {
  return {
    list: (accountId: string, now: Date) =>
      database.retry((em) =>
        em.find(
          PersonalTokenEntity,
          { accountId, expiresAt: { $gt: now } },
          { orderBy: { createdAt: 'desc', id: 'desc' } },
        ),
      ),

    async find(hash: string, now: Date): Promise<KnownToken | null> {
      const [token] = await database.run<KnownToken>('read', FIND_TOKEN, [hash, now]);
      return token ?? null;
    },
  };
}
