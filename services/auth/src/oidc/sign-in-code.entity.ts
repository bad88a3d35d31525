import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** What the provider said about somebody, for the holder of the code and of the secret of the page that started. */
export const SignInCodeEntity = defineEntity({
  name: 'SignInCode',
  tableName: 'sign_in_codes',
  properties: {
    /** SHA-256 of the code. */
    hash: p.text().primary(),
    /** SHA-256 of the page's secret. */
    challenge: p.text(),
    issuer: p.text(),
    subject: p.text(),
    email: p.text().nullable(),
    emailVerified: p.boolean(),
    name: p.text().nullable(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index('sign_in_codes_expires_at'),
  },
});

export type SignInCode = InferEntity<typeof SignInCodeEntity>;
