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
    /** When the last of its access tokens expires. */
    tokensUntil: p.datetime(3),
    /** When neither its access tokens nor its refresh token are valid any more. */
    expiresAt: p.datetime(3).index('sessions_expires_at'),
    endedAt: p.datetime(3).nullable(),
    /** Accurate to a minute; null until its first recorded use. */
    lastUsedAt: p.datetime(3).nullable(),
    /** The client that opened it or last refreshed it. */
    ip: p.text().nullable(),
    /** That client's user agent. */
    client: p.text().nullable(),
    /** SHA-256 of its refresh tokens' prefix; null without a refresh token, or with one of an earlier release. */
    refreshFamily: p.text().nullable(),
    /** Signs its refresh tokens; null without one that is signed. */
    refreshKey: p.text().nullable(),
  },
});

export type Session = InferEntity<typeof SessionEntity>;
