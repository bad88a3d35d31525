import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { SessionEntity } from './session.entity.ts';

export const RefreshTokenEntity = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_tokens',
  properties: {
    /** SHA-256 of the token: what is stored here opens nothing. */
    hash: p.text().primary(),
    sessionId: () =>
      p
        .manyToOne(SessionEntity)
        .mapToPk()
        .name('session_id')
        .deleteRule('cascade')
        .foreignKeyName('refresh_tokens_session_id_fkey')
        .index('refresh_tokens_session_id'),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
    /** Only of tokens that an earlier release made: others are gone when they were used. */
    usedAt: p.datetime(3).nullable(),
  },
});

export type RefreshToken = InferEntity<typeof RefreshTokenEntity>;
