import { unauthenticated } from '@taskmesh/errors';

/** Unknown, expired, used, or of a session that has ended: all the same to the holder. */
export const refreshTokenUnusable = () => unauthenticated('The refresh token cannot be used.');
export const sessionHasEnded = () => unauthenticated('The session has ended.');
