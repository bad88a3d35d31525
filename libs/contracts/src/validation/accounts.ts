import { z } from 'zod';
import { choice, codePoints, isBlank, stringField } from './text.ts';
import { timestamp } from './timestamp.ts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** Rejects angle brackets: mailers drop them, so the mail would go to a different mailbox. */
const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/;

export const email = stringField('email')
  .transform((value) => value.trim())
  .refine(
    (value) => value.isWellFormed() && codePoints(value) <= 254 && !CONTROL.test(value) && ADDRESS.test(value),
    'email must be an e-mail address.',
  )
  .meta({ format: 'email', maxLength: 254 });

/** Invisible characters and those that mailers replace in domains: the address would look like, or be, another one. */
const LOOKS_DIFFERENT = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u3002]/u;
const isAsMailersReadIt = (address: string) => {
  const domain = address.slice(address.lastIndexOf('@'));
  return !LOOKS_DIFFERENT.test(address) && domain.normalize('NFC') === domain.normalize('NFKC');
};

/** An address that an account gets now. Earlier ones stay usable for logins and recovery. */
const newEmail = email.refine(isAsMailersReadIt, 'email must not contain invisible characters or variants of letters.');

export const name = stringField('name')
  .transform((value) => value.trim())
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'name must not contain NUL characters or lone surrogates.',
  )
  .refine((value) => !isBlank(value) && codePoints(value) <= 255, 'name must have 1 to 255 characters.')
  .meta({ minLength: 1, maxLength: 255 });

/** Applied before the rules for passwords; bounded, so that no huge input is hashed. */
export const password = stringField('password').max(1_024, 'password is too long.');

const optionalPassword = password.nullish().transform((value) => value ?? undefined);

/** Auth itself enforces the rules for a new password (length, list of common ones). */
export const signUpInput = z.object({ email: newEmail, password, name });
export type SignUp = z.output<typeof signUpInput>;

/** Checks only types and size: a value that matches no account is a failed login, not a validation error. */
export const loginInput = z.object({
  email: stringField('email').max(1_024, 'email is too long.'),
  password,
});
export type Login = z.output<typeof loginInput>;

export const forgotPasswordInput = z.object({ email });

/** Auth itself enforces the rules for the new password; a malformed token is treated as a wrong one. */
export const resetPasswordInput = z.object({
  token: stringField('token').max(1_024, 'token is too long.'),
  newPassword: password,
});

export const changeNameInput = z.object({ name });

/** Auth itself enforces the rules for the new password; a malformed current password is treated as a wrong one. */
export const changePasswordInput = z.object({ currentPassword: password, newPassword: password });

export const changeEmailInput = z.object({ email: newEmail, password });

/** The password proves that the request does not come from someone who found an open session. */
export const deleteAccountInput = z.object({ password });

/** The password may be omitted if a session already identifies the account. */
export const confirmEmailInput = resetPasswordInput.pick({ token: true }).extend({ password: optionalPassword });

/** A path on our own origin, without characters that a browser might interpret differently. */
const OWN_PATH = /^\/(?!\/)[!-"$-[\]-~]*$/;

/** PKCE (RFC 7636): a SHA-256 in base64url, and the text that it is computed from. */
const CHALLENGE = /^[\w-]{43}$/;
const VERIFIER = /^[\w.~-]{43,128}$/;

export const returnTo = stringField('return_to')
  .max(2_048, 'return_to is too long.')
  .regex(OWN_PATH, 'return_to must be a path of this origin, such as /, without a fragment.');

export const codeChallenge = stringField('code_challenge', 'the SHA-256 of a secret of the page, in base64url').regex(
  CHALLENGE,
  'code_challenge must be a SHA-256 in base64url.',
);

export const beginSignInInput = z.object({ returnTo: returnTo.default('/'), codeChallenge });

const providerCode = z.object({
  code: stringField('code').max(1_024, 'code is too long.'),
  verifier: stringField('verifier').regex(VERIFIER, 'verifier must have 43 to 128 characters of PKCE.'),
});

export const signInWithCodeInput = providerCode.extend({ password: optionalPassword });
export const linkIdentityInput = providerCode.extend({ password });

/** Auth itself limits how far ahead `expiresAt` may be. */
export const personalTokenInput = z.object({
  name,
  scope: choice('scope', ['read', 'write']),
  expiresAt: timestamp('expiresAt'),
});
