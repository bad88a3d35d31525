import {
  AppError,
  badUserInput,
  conflict,
  forbidden,
  notFound,
  unauthenticated,
  unavailable,
} from '@taskmesh/contracts';

export const emailIsTaken = () => conflict('The e-mail address is already registered.');
/** Does not reveal whether the address is unknown or the password is wrong. */
export const wrongCredentials = () => unauthenticated('Wrong e-mail or password.');
export const accountIsGone = () => unauthenticated('The account does not exist any more.');
/** For accounts that were opened by a sign-in through a provider. */
export const noPasswordYet = () => conflict('The account has no password: set one by a recovery mail first.');
/** Not UNAUTHENTICATED: a signed-in user's token is valid, only the password they typed is wrong. */
export const wrongPassword = (path: string) => badUserInput([{ path, message: 'The password is wrong.' }]);

export const emailIsTheSame = () => badUserInput([{ path: 'email', message: 'email is your address already.' }]);
/** Does not reveal whether the token is unknown, expired or used. */
export const emailTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
/** A person who reads the mail does not necessarily own the account. */
export const ownerIsUnproven = () =>
  unauthenticated('Sign in to the account whose address this is to be, or send its password along.');
export const tokenOfAnotherAccount = () =>
  forbidden('This token belongs to another account than the one you are signed in to: use that one, or its password.');

export const noProvider = () => notFound('No sign-in provider is configured.');
export const providerIsAway = (cause: unknown) =>
  unavailable('The sign-in provider cannot be reached right now; try again.', cause);
/** Also covers the cookie of another browser, and one that was used before. */
export const notBegunHere = () =>
  badUserInput([
    { path: 'state', message: 'This sign-in was not started in this browser, or has expired: start again.' },
  ]);
/** Does not reveal whether the code is unknown, used, expired, or belongs to another page. */
export const codeUnusable = () =>
  badUserInput([{ path: 'code', message: 'code is not valid, was used before, or has expired.' }]);
export const addressIsMissing = () => forbidden('The sign-in provider does not share your e-mail address.');
export const addressIsNotVerified = () =>
  forbidden('The sign-in provider has not verified your e-mail address: verify it there, and sign in again.');
export const addressIsAnother = () =>
  forbidden('The address at the sign-in provider is not that of the account: the two must be the same.');
export const linkIsNeeded = (email: string) =>
  new AppError('LINK_REQUIRED', `${email} already has an account: enter its password once to link the two.`);
export const isLinkedAlready = () => conflict('This identity is already linked to an account.');
export const noSuchLink = () => notFound('There is no such linked identity.');
export const isLastWayIn = () =>
  conflict('This is the only way in to the account: set a password by a recovery mail first.');

/** Does not reveal whether the token belongs to another user or has ended. */
export const noSuchToken = () => notFound('There is no such token.');
export const tooManyTokens = (most: number) => conflict(`There are ${most} tokens already: end one first.`);
export const expiryIsOutOfRange = () =>
  badUserInput([{ path: 'expiresAt', message: 'The expiry must be later than now, and no more than 366 days away.' }]);

/** Does not reveal whether the token is unknown, expired, used, or belongs to an ended session. */
export const refreshTokenUnusable = () => unauthenticated('The refresh token cannot be used.');
export const sessionHasEnded = () => unauthenticated('The session has ended.');
/** Does not reveal whether the session belongs to another user or has ended. */
export const noSuchSession = () => notFound('There is no such session.');
