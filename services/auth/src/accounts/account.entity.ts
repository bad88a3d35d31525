import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  indexes: [{ name: 'accounts_bcrypt', properties: ['passwordHash'], where: "(password_hash ~~ '$2%'::text)" }],
  triggers: [
    {
      name: 'accounts_have_password',
      timing: 'before',
      events: ['update'],
      forEach: 'row',
      expression: `
        create trigger accounts_have_password before update of password_version on accounts
        for each row when (new.password_version > old.password_version) execute function accounts_have_password()`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    /** As the owner typed it. */
    email: p.text(),
    /** The unique form of the address: see `emailKey`. */
    emailKey: p
      .text()
      .unique('accounts_email_key_unique')
      .comment('The address without regard to case: made by auth, because lower() knows only ASCII in some locales'),
    name: p.text(),
    passwordHash: p.text().hidden(),
    /** False if a provider sign-in opened the account: no password matches its hash. A trigger sets it to true with a new version. */
    hasPassword: p.boolean().default(true),
    /** Increases with each new password, so that a login that verified the previous one opens no session. */
    passwordVersion: p.integer().default(1),
    emailConfirmedAt: p.datetime(3),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/** The column that refers to the account of a row. Deleting the account deletes its rows. */
export const accountOf = (table: string) =>
  p
    .manyToOne(AccountEntity)
    .mapToPk()
    .name('account_id')
    .deleteRule('cascade')
    .foreignKeyName(`${table}_account_id_fkey`)
    .index(`${table}_account_id`);

/** The columns of secrets that are used once. */
export const secretOf = (table: string) => ({
  /** SHA-256 of the secret. */
  hash: p.text().primary(),
  createdAt: p.datetime(3),
  expiresAt: p.datetime(3).index(`${table}_expires_at`),
});

/** The columns of queued mails, whose `ip` and `requestId` are those of the request. */
export const mailOf = (table: string) => ({
  id: p.uuid().primary(),
  ip: p.text().nullable(),
  requestId: p.text(),
  createdAt: p.datetime(3),
  attempts: p.integer().default(0),
  nextAttemptAt: p.datetime(3).index(`${table}_due`),
});

/** An account without the data that only logins need. */
export type Account = Pick<InferEntity<typeof AccountEntity>, 'id' | 'email' | 'name' | 'emailConfirmedAt'>;
