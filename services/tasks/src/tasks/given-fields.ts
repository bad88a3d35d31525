import { createTaskInput } from '@taskmesh/validation';

/** The fields of a task that callers give, in the order of the statements' parameters. */
export const GIVEN_FIELDS = Object.keys(createTaskInput.shape) as (keyof typeof createTaskInput.shape)[]; // its own keys
