import { badUserInput, conflict, unauthenticated } from '@taskmesh/contracts';

export const emailIsTaken = () => conflict('The e-mail address is already registered.');
/** The same for an unknown address and for a wrong password. */
export const wrongCredentials = () => unauthenticated('Wrong e-mail or password.');
export const accountIsGone = () => unauthenticated('The account does not exist any more.');
/** For accounts that were opened at a provider. */
export const noPasswordYet = () => conflict('The account has no password: set one by a recovery mail first.');
/** Of somebody who is signed in: their token is good, what they typed is not. */
export const wrongPassword = (path: string) => badUserInput([{ path, message: 'The password is wrong.' }]);
