import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf, mailOf, secretOf } from '../accounts/account.entity.ts';

/** A mail to be sent if the address has an account. */
export const RecoveryRequestEntity = defineEntity({
  name: 'RecoveryRequest',
  tableName: 'recovery_requests',
  properties: {
    ...mailOf('recovery_requests'),
    emailKey: p.text().index('recovery_requests_email_key'),
  },
});

export type RecoveryRequest = InferEntity<typeof RecoveryRequestEntity>;

export const ResetTokenEntity = defineEntity({
  name: 'ResetToken',
  tableName: 'reset_tokens',
  properties: {
    ...secretOf('reset_tokens'),
    accountId: () => accountOf('reset_tokens'),
  },
});

export type ResetToken = InferEntity<typeof ResetTokenEntity>;
