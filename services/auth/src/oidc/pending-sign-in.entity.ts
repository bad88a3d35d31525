import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** A sign-in in progress at the provider. Its secrets are only in the browser's cookie. */
export const PendingSignInEntity = defineEntity({
  name: 'PendingSignIn',
  tableName: 'pending_sign_ins',
  properties: {
    /** SHA-256 of the cookie. */
    hash: p.text().primary(),
    /** SHA-256 of a secret of the page that started it: only that page can use the code. */
    challenge: p.text(),
    returnTo: p.text(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index('pending_sign_ins_expires_at'),
  },
});

export type PendingSignIn = InferEntity<typeof PendingSignInEntity>;
