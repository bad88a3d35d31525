import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.uuid().primary(),
    /** As its owner wrote it. */
    email: p.text(),
    /** The unique form of the address: see `emailKey`. */
    emailKey: p
      .text()
      .unique('accounts_email_key_unique')
      .comment('The address without regard to case: made by auth, because lower() knows only ASCII in some locales'),
    name: p.text(),
    passwordHash: p.text().hidden(),
    /** Grows with each new password: a login that checked the one before opens no session. */
    passwordVersion: p.integer().default(1),
    emailConfirmedAt: p.datetime(3),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/** An account without the data that only logins need. */
export type Account = Pick<InferEntity<typeof AccountEntity>, 'id' | 'email' | 'name' | 'emailConfirmedAt'>;
