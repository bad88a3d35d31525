import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    createdAt: p.datetime(3),
    /** When the last of its access tokens expires. */
    tokensUntil: p.datetime(3),
    /** When nothing of it can be used any more: neither an access token nor a refresh token. */
    expiresAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
    /** SHA-256 of what its refresh tokens begin with; null without one, and as long as its tokens are of an earlier release. */
    refreshFamily: p.text().nullable(),
  },
});

export type Session = InferEntity<typeof SessionEntity>;
