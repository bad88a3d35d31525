import { badUserInput } from '@taskmesh/errors';

export const emailIsTheSame = () => badUserInput([{ path: 'email', message: 'email is your address already.' }]);
/** Unknown, expired and used tokens are all the same to whoever holds one. */
export const emailTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
