import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf, mailOf, secretOf } from '../accounts/account.entity.ts';

/** `email.confirm` asks the new address for confirmation; the others report a completed change. */
export const ACCOUNT_MAIL_KINDS = [
  'password.changed',
  'email.confirm',
  'email.changed',
  'identity.linked',
  'identity.unlinked',
  'account.deleted',
] as const;
export type AccountMailKind = (typeof ACCOUNT_MAIL_KINDS)[number];

/** A mail to be sent because of a change. */
export const AccountMailEntity = defineEntity({
  name: 'AccountMail',
  tableName: 'account_mails',
  properties: {
    ...mailOf('account_mails'),
    /** Null for the last mail of a deleted account. */
    accountId: () => accountOf('account_mails').nullable(),
    kind: p.text().$type<AccountMailKind>(),
    /** The address before or after the change, as it was when the mail was queued. */
    recipient: p.text(),
  },
});

export type AccountMail = InferEntity<typeof AccountMailEntity>;

/** Proves that its holder reads the mail of the account's new address. */
export const EmailTokenEntity = defineEntity({
  name: 'EmailToken',
  tableName: 'email_tokens',
  properties: {
    ...secretOf('email_tokens'),
    accountId: () => accountOf('email_tokens'),
    /** The new address, as the owner typed it. */
    email: p.text(),
  },
});

export type EmailToken = InferEntity<typeof EmailTokenEntity>;
