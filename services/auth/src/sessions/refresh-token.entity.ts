import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const RefreshTokenEntity = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_tokens',
  properties: {
    /** SHA-256 of the token: what is stored here opens nothing. */
    hash: p.text().primary(),
    sessionId: p.uuid(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
    /** Only of tokens that an earlier release made: others are gone when they were used. */
    usedAt: p.datetime(3).nullable(),
  },
});

export type RefreshToken = InferEntity<typeof RefreshTokenEntity>;
