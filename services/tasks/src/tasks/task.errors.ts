import { AppError, badUserInput, conflict, notFound, unauthenticated, unavailable } from '@taskmesh/contracts';

/** Does not reveal whether the task exists for another user. */
export const taskNotFound = () => notFound('Task not found.');

/** The token is still valid, but the account was deleted. */
export const ownerDeleted = () => unauthenticated('The account no longer exists.');

export const versionMismatch = () =>
  new AppError('PRECONDITION_FAILED', 'The task has been changed since: its version differs.');

export const keyReused = () =>
  badUserInput([{ path: 'idempotencyKey', message: 'idempotencyKey was used before, with different input.' }]);

export const tooManyTasks = (max: number) =>
  conflict(`You have ${max} tasks, the most that an account may have: delete some first.`);

export const tooManyUnpublished = () =>
  unavailable('Too many of your changes wait for the change feed. Try again later.');

/** Unlike other conflicts, this one resolves by itself. */
export const requestInProgress = () =>
  new AppError('CONFLICT', 'The first request with this idempotency key is still running.', { retryAfterSeconds: 1 });
