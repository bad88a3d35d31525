import { badUserInput, conflict, notFound } from '@taskmesh/contracts';

/** The same for other users' tokens and for ended ones. */
export const noSuchToken = () => notFound('There is no such token.');
export const tooManyTokens = (most: number) => conflict(`There are ${most} tokens already: end one first.`);
export const expiryIsOutOfRange = () =>
  badUserInput([{ path: 'expiresAt', message: 'The expiry must be later than now, and no more than 366 days away.' }]);
