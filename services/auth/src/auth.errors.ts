import {
  AppError,
  badUserInput,
  conflict,
  forbidden,
  notFound,
  unauthenticated,
  unavailable,
} from '@taskmesh/contracts';

export const emailTaken = () => conflict('The e-mail address is already registered.');
/** Does not reveal whether the address is unknown or the password is wrong. */
export const wrongCredentials = () => unauthenticated('Wrong e-mail or password.');
export const accountDeleted = () => unauthenticated('The account no longer exists.');
/** For accounts that were opened by a sign-in through a provider. */
export const passwordNotSet = () => conflict('The account has no password: set one by a recovery mail first.');
/** Not UNAUTHENTICATED: a signed-in user's token is valid, only the password they typed is wrong. */
export const wrongPassword = (path: string) => badUserInput([{ path, message: 'The password is wrong.' }]);

export const emailUnchanged = () => badUserInput([{ path: 'email', message: 'email is already your address.' }]);
/** Does not reveal whether the token is unknown, expired or used. */
export const mailedTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
/** A person who reads the mail does not necessarily own the account. */
export const ownershipNotVerified = () =>
  unauthenticated('Sign in to the account that is to get this address, or send its password.');
export const tokenOfAnotherAccount = () =>
  forbidden('This token belongs to another account than the one you are signed in to: use that one, or its password.');

export const providerNotConfigured = () => notFound('No sign-in provider is configured.');
export const providerUnavailable = (cause: unknown) =>
  unavailable('The sign-in provider cannot be reached right now; try again.', cause);
/** Also covers the cookie of another browser, and one that was used before. */
export const signInNotStartedHere = () =>
  badUserInput([
    { path: 'state', message: 'This sign-in was not started in this browser, or has expired: start again.' },
  ]);
/** Does not reveal whether the code is unknown, used, expired, or belongs to another page. */
export const codeUnusable = () =>
  badUserInput([{ path: 'code', message: 'code is not valid, was used before, or has expired.' }]);
export const emailNotShared = () => forbidden('The sign-in provider does not share your e-mail address.');
export const emailNotVerified = () =>
  forbidden('The sign-in provider has not verified your e-mail address: verify it there, and sign in again.');
export const emailDiffers = () =>
  forbidden('The address at the sign-in provider is not that of the account: the two must be the same.');
export const linkRequired = (email: string) =>
  new AppError('LINK_REQUIRED', `${email} already has an account: enter its password once to link the two.`);
export const alreadyLinked = () => conflict('This identity is already linked to an account.');
export const linkNotFound = () => notFound('There is no such linked identity.');
export const lastSignInMethod = () =>
  conflict('This is the only way in to the account: set a password by a recovery mail first.');

/** Does not reveal whether the token belongs to another user or has ended. */
export const tokenNotFound = () => notFound('There is no such token.');
export const tooManyTokens = (max: number) => conflict(`There are ${max} tokens already: end one first.`);
export const expiryOutOfRange = () =>
  badUserInput([{ path: 'expiresAt', message: 'The expiry must be later than now, and at most 366 days from now.' }]);

/** Does not reveal whether the token is unknown, expired, used, or belongs to an ended session. */
export const refreshTokenUnusable = () => unauthenticated('The refresh token cannot be used.');
export const sessionEnded = () => unauthenticated('The session has ended.');
/** Does not reveal whether the session belongs to another user or has ended. */
export const sessionNotFound = () => notFound('There is no such session.');
