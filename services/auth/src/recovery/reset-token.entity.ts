import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const ResetTokenEntity = defineEntity({
  name: 'ResetToken',
  tableName: 'reset_tokens',
  properties: {
    /** SHA-256 of the token. */
    hash: p.text().primary(),
    accountId: p.uuid(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
});

export type ResetToken = InferEntity<typeof ResetTokenEntity>;
