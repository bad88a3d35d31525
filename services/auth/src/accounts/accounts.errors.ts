import { conflict, unauthenticated } from '@taskmesh/errors';

export const emailIsTaken = () => conflict('The e-mail address is already registered.');
/** An unknown address and a wrong password are answered alike. */
export const wrongCredentials = () => unauthenticated('Wrong e-mail or password.');
export const accountIsGone = () => unauthenticated('The account does not exist any more.');
