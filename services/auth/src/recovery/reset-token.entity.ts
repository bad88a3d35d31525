import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf } from '../accounts/account.entity.ts';

export const ResetTokenEntity = defineEntity({
  name: 'ResetToken',
  tableName: 'reset_tokens',
  properties: {
    /** SHA-256 of the token. */
    hash: p.text().primary(),
    accountId: () => accountOf('reset_tokens'),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index('reset_tokens_expires_at'),
  },
});

export type ResetToken = InferEntity<typeof ResetTokenEntity>;
