import { notFound, unauthenticated } from '@taskmesh/contracts';

/** The same for unknown, expired and used tokens, and those of ended sessions. */
export const refreshTokenUnusable = () => unauthenticated('The refresh token cannot be used.');
export const sessionHasEnded = () => unauthenticated('The session has ended.');
/** The same for other users' sessions and for ended ones. */
export const noSuchSession = () => notFound('There is no such session.');
