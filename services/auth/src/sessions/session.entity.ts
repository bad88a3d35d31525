import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { AccountEntity } from '../accounts/account.entity.ts';

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  indexes: [
    { name: 'sessions_living', properties: ['accountId'], where: { endedAt: null } },
    { name: 'sessions_refresh_family', properties: ['refreshFamily'], where: { refreshFamily: { $ne: null } } },
  ],
  properties: {
    id: p.uuid().primary(),
    accountId: () =>
      p
        .manyToOne(AccountEntity)
        .mapToPk()
        .name('account_id')
        .deleteRule('cascade')
        .foreignKeyName('sessions_account_id_fkey'),
    createdAt: p.datetime(3),
    /** When the last of its access tokens expires. */
    tokensUntil: p.datetime(3),
    /** When nothing of it can be used any more: neither an access token nor a refresh token. */
    expiresAt: p.datetime(3).index('sessions_expires_at'),
    endedAt: p.datetime(3).nullable(),
    /** Exact to a minute; null as long as only its beginning is known. */
    lastUsedAt: p.datetime(3).nullable(),
    /** Of whoever opened it, or refreshed it last. */
    ip: p.text().nullable(),
    /** What that caller's program called itself. */
    client: p.text().nullable(),
    /** SHA-256 of what its refresh tokens begin with; null without one, and as long as its tokens are of an earlier release. */
    refreshFamily: p.text().nullable(),
  },
});

export type Session = InferEntity<typeof SessionEntity>;
