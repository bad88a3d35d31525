import { badUserInput } from '@taskmesh/errors';

/** The same for unknown, expired and used tokens. */
export const resetTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
