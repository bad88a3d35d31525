import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { SessionEntity } from './session.entity.ts';

export const RefreshTokenEntity = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_tokens',
  properties: {
    /** SHA-256 of the token, so that the database holds no usable token. */
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
    /** Set only on tokens of an earlier release; signed ones are deleted when they are used. */
    usedAt: p.datetime(3).nullable(),
  },
});

export type RefreshToken = InferEntity<typeof RefreshTokenEntity>;
