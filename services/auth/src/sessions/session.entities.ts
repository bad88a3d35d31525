import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf } from '../accounts/account.entity.ts';

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  indexes: [
    { name: 'sessions_refresh_family', properties: ['refreshFamily'], where: { refreshFamily: { $ne: null } } },
  ],
  properties: {
    id: p.uuid().primary(),
    accountId: () => accountOf('sessions'),
    createdAt: p.datetime(3),
    /** When the session's last access token expires. */
    tokensUntil: p.datetime(3),
    /** When none of the session's access and refresh tokens is valid any more. */
    expiresAt: p.datetime(3).index('sessions_expires_at'),
    endedAt: p.datetime(3).nullable(),
    /** Accurate to a minute; null until its first recorded use. */
    lastUsedAt: p.datetime(3).nullable(),
    /** The address of the client that opened the session or last refreshed it. */
    ip: p.text().nullable(),
    /** That client's user agent. */
    client: p.text().nullable(),
    /** SHA-256 of its refresh tokens' prefix; null without a refresh token, or with one of an earlier release. */
    refreshFamily: p.text().nullable(),
    /** Signs the session's refresh tokens; null if there is no signed one. */
    refreshKey: p.text().nullable(),
  },
});

export type Session = InferEntity<typeof SessionEntity>;

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
