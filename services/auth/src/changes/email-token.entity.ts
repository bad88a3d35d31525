import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf } from '../accounts/account.entity.ts';

/** Proves that its holder reads the mail of the account's new address. */
export const EmailTokenEntity = defineEntity({
  name: 'EmailToken',
  tableName: 'email_tokens',
  properties: {
    /** SHA-256 of the token. */
    hash: p.text().primary(),
    accountId: () => accountOf('email_tokens'),
    /** The new address, as its owner wrote it. */
    email: p.text(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index('email_tokens_expires_at'),
  },
});

export type EmailToken = InferEntity<typeof EmailTokenEntity>;
