import type { KnownToken } from '@taskmesh/internal-api';
import type { SharedDatabase } from '@taskmesh/store';
import { FIND_TOKEN, TOKENS_OF_ACCOUNT } from '../accounts/account.statements.ts';

/** As its owner sees it. Times in RFC 3339. */
export interface OwnToken {
  id: string;
  name: string;
  scope: 'READ' | 'WRITE';
  createdAt: string;
  expiresAt: string;
  /** Accurate to a minute. */
  lastUsedAt: string | null;
}

export type PersonalTokenRepository = ReturnType<typeof createPersonalTokenRepository>;

export function createPersonalTokenRepository(database: SharedDatabase) {
  return {
    list: (accountId: string, now: Date) =>
      database.run<OwnToken>('read', TOKENS_OF_ACCOUNT, [accountId, now], accountId),

    async find(hash: string, now: Date): Promise<KnownToken | null> {
      const [token] = await database.run<KnownToken>('read', FIND_TOKEN, [hash, now]);
      return token ?? null;
    },
  };
}
