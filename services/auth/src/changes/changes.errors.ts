import { badUserInput } from '@taskmesh/errors';

export const emailIsTheSame = () => badUserInput([{ path: 'email', message: 'email is your address already.' }]);
/** The same for unknown, expired and used tokens. */
export const emailTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
