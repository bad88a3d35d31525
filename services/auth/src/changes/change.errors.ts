import { badUserInput, forbidden, unauthenticated } from '@taskmesh/contracts';

export const emailIsTheSame = () => badUserInput([{ path: 'email', message: 'email is your address already.' }]);
/** The same for unknown, expired and used tokens. */
export const emailTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
/** Whoever reads the mail need not own the account. */
export const ownerIsUnproven = () =>
  unauthenticated('Sign in to the account whose address this is to be, or send its password along.');
export const tokenOfAnotherAccount = () =>
  forbidden('This token belongs to another account than the one you are signed in to: use that one, or its password.');
