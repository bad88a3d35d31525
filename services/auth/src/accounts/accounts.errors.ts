import { badUserInput, conflict, unauthenticated } from '@taskmesh/errors';

export const emailIsTaken = () => conflict('The e-mail address is already registered.');
/** An unknown address and a wrong password are answered alike. */
export const wrongCredentials = () => unauthenticated('Wrong e-mail or password.');
export const accountIsGone = () => unauthenticated('The account does not exist any more.');
/** Of somebody who signs in at a provider only. */
export const noPasswordYet = () => conflict('The account has no password: set one by a recovery mail first.');
/** Of somebody who is signed in: their token is good, what they typed is not. */
export const wrongPassword = (path: string) => badUserInput([{ path, message: 'The password is wrong.' }]);
