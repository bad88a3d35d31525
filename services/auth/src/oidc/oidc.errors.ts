import { AppError, badUserInput, conflict, forbidden, notFound, unavailable } from '@taskmesh/errors';

export const noProvider = () => notFound('Nobody signs in at a provider here.');
export const providerIsAway = (cause: unknown) =>
  unavailable('The sign-in provider cannot be reached right now; try again.', cause);
/** Also for a cookie of another browser, and for one that was used before. */
export const notBegunHere = () =>
  badUserInput([{ path: 'state', message: 'This sign-in was not begun in this browser, or is over: begin it again.' }]);
/** Unknown, used, expired, or another page's: all the same to whoever holds it. */
export const codeUnusable = () =>
  badUserInput([{ path: 'code', message: 'code is not valid, was used before, or has expired.' }]);
export const addressIsMissing = () => forbidden('The sign-in provider tells no e-mail address of yours.');
export const addressIsNotVerified = () =>
  forbidden('The sign-in provider has not verified your e-mail address: verify it there, and sign in again.');
export const addressIsAnother = () =>
  forbidden('The address at the sign-in provider is not that of the account: only one with the same can be linked.');
export const linkIsNeeded = (email: string) =>
  new AppError('LINK_REQUIRED', `There is an account of ${email}: enter its password once to link it.`);
export const isLinkedAlready = () => conflict('It is linked to an account already.');
export const noSuchLink = () => notFound('There is no such linked identity.');
export const isLastWayIn = () =>
  conflict('It is the only way into the account: set a password by a recovery mail first.');
