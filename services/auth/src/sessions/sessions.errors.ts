import { notFound, unauthenticated } from '@taskmesh/errors';

/** Unknown, expired, used, or of a session that has ended: all the same to the holder. */
export const refreshTokenUnusable = () => unauthenticated('The refresh token cannot be used.');
export const sessionHasEnded = () => unauthenticated('The session has ended.');
/** Somebody else's, and one that has ended already, look like none. */
export const noSuchSession = () => notFound('There is no such session.');
