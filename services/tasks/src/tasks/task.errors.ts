import { AppError, badUserInput, conflict, notFound } from '@taskmesh/errors';

/** Does not reveal whether the task exists for another user. */
export const taskNotFound = () => notFound('Task not found.');

export const versionDiffers = () =>
  new AppError('PRECONDITION_FAILED', 'The task has been changed since: its version is another.');

export const keyUsedBefore = () =>
  badUserInput([{ path: 'idempotencyKey', message: 'idempotencyKey was used before, with another input.' }]);

export const firstStillRuns = () => conflict('The first request with this idempotencyKey is still running.');
