import { badUserInput } from '@taskmesh/errors';

/** Unknown, expired and used tokens are all the same to whoever holds one. */
export const resetTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
