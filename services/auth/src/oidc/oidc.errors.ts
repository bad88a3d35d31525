import { AppError, badUserInput, conflict, forbidden, notFound, unavailable } from '@taskmesh/contracts';

export const noProvider = () => notFound('No sign-in provider is configured.');
export const providerIsAway = (cause: unknown) =>
  unavailable('The sign-in provider cannot be reached right now; try again.', cause);
/** Also if the cookie belongs to another browser, or was used before. */
export const notBegunHere = () =>
  badUserInput([
    { path: 'state', message: 'This sign-in was not started in this browser, or has expired: start again.' },
  ]);
/** The same for unknown, used and expired codes, and those of another page. */
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
