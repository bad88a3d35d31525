import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf, secretOf } from '../accounts/account.entity.ts';

/** A user of a provider who can sign in to an account here. */
export const LinkedIdentityEntity = defineEntity({
  name: 'LinkedIdentity',
  tableName: 'linked_identities',
  uniques: [{ name: 'linked_identities_issuer_subject_key', properties: ['issuer', 'subject'] }],
  properties: {
    id: p.uuid().primary(),
    accountId: () => accountOf('linked_identities'),
    issuer: p.text(),
    /** The provider's identifier of that person, which never changes. */
    subject: p.text(),
    /** The address that the provider had verified when the identity was linked. */
    email: p.text(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3),
  },
});

export type LinkedIdentity = InferEntity<typeof LinkedIdentityEntity>;

/** A sign-in in progress at the provider. Its secrets are only in the browser's cookie. */
export const PendingSignInEntity = defineEntity({
  name: 'PendingSignIn',
  tableName: 'pending_sign_ins',
  properties: {
    ...secretOf('pending_sign_ins'), // the cookie
    /** SHA-256 of a secret of the page that started the sign-in: only that page can use the code. */
    challenge: p.text(),
    returnTo: p.text(),
  },
});

export type PendingSignIn = InferEntity<typeof PendingSignInEntity>;

/** The provider's claims about a user. Reading them requires the code and the secret of the page that started the sign-in. */
export const SignInCodeEntity = defineEntity({
  name: 'SignInCode',
  tableName: 'sign_in_codes',
  properties: {
    ...secretOf('sign_in_codes'), // the code
    /** SHA-256 of the page's secret. */
    challenge: p.text(),
    issuer: p.text(),
    subject: p.text(),
    email: p.text().nullable(),
    emailVerified: p.boolean(),
    name: p.text().nullable(),
  },
});

export type SignInCode = InferEntity<typeof SignInCodeEntity>;

/** How long a code is valid: enough time to find the account's password, or to set a new one by mail. */
export const CODE_MS = 10 * 60_000;
/** How long a code opens a session without a password. The page uses its code as soon as it loads. */
const SESSION_CODE_MS = 60_000;

/** Whether the code still opens a session by itself. Afterwards it only links an identity, which requires the account's password. */
export const opensSession = ({ createdAt }: Pick<SignInCode, 'createdAt'>, now: Date): boolean =>
  now.getTime() - createdAt.getTime() < SESSION_CODE_MS;
