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

/** Leaves time to find the password of the account, or to set a new one by mail. */
export const CODE_MS = 10 * 60_000;
/** A page that comes back uses its code at once. */
const ALONE_MS = 60_000;

/** Whether the code still opens a session by itself. Afterwards it only links, which takes the password of the account. */
export const worksAlone = ({ createdAt }: Pick<SignInCode, 'createdAt'>, now: Date): boolean =>
  now.getTime() - createdAt.getTime() < ALONE_MS;
