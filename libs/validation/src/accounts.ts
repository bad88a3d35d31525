import { z } from 'zod';
import { codePoints, isBlank } from './text.ts';
import { timestamp } from './timestamp.ts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const ADDRESS = /^[^\s@]+@[^\s@]+$/;

export const email = z
  .string({ error: 'email must be a string.' })
  .transform((value) => value.trim())
  .refine(
    (value) => value.isWellFormed() && codePoints(value) <= 254 && !CONTROL.test(value) && ADDRESS.test(value),
    'email must be an e-mail address.',
  )
  .meta({ format: 'email', maxLength: 254 });

export const name = z
  .string({ error: 'name must be a string.' })
  .transform((value) => value.trim())
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'name must not contain NUL characters or lone surrogates.',
  )
  .refine((value) => !isBlank(value) && codePoints(value) <= 255, 'name must have 1 to 255 characters.')
  .meta({ minLength: 1, maxLength: 255 });

/** Checked before a password's rules; bounded, so that nothing huge is hashed. */
export const password = z.string({ error: 'password must be a string.' }).max(1_024, 'password is too long.');

/** Auth itself enforces the rules for a new password (length, list of common ones). */
export const signUpInput = z.object({ email, password, name });
export type SignUp = z.output<typeof signUpInput>;

/** Checks only types and size: anything that matches no account is a failed login. */
export const loginInput = z.object({
  email: z.string({ error: 'email must be a string.' }).max(1_024, 'email is too long.'),
  password,
});
export type Login = z.output<typeof loginInput>;

export const forgotPasswordInput = z.object({ email });

/** Auth itself enforces the rules for the new password; a malformed token is treated as a wrong one. */
export const resetPasswordInput = z.object({
  token: z.string({ error: 'token must be a string.' }).max(1_024, 'token is too long.'),
  newPassword: password,
});

export const changeNameInput = z.object({ name });

/** The rules for the new password are auth's own; a current one that is none is simply wrong. */
export const changePasswordInput = z.object({ currentPassword: password, newPassword: password });

export const changeEmailInput = z.object({ email, password });

/** The password proves that this is not somebody who found an open session. */
export const deleteAccountInput = z.object({ password });

export const confirmEmailInput = resetPasswordInput.pick({ token: true });

/** How long one may live is auth's own rule. */
export const personalTokenInput = z.object({
  name,
  scope: z.enum(['read', 'write'], 'scope must be one of read, write.'),
  expiresAt: timestamp('expiresAt'),
});
