import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf } from '../accounts/account.entity.ts';

/** A mail to be sent if the address has an account. */
export const RecoveryRequestEntity = defineEntity({
  name: 'RecoveryRequest',
  tableName: 'recovery_requests',
  properties: {
    id: p.uuid().primary(),
    emailKey: p.text().index('recovery_requests_email_key'),
    ip: p.text().nullable(),
    requestId: p.text(),
    createdAt: p.datetime(3),
    attempts: p.integer().default(0),
    nextAttemptAt: p.datetime(3).index('recovery_requests_due'),
  },
});

export type RecoveryRequest = InferEntity<typeof RecoveryRequestEntity>;

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
