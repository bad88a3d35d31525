import { createTaskInput } from '@taskmesh/validation';

/** What callers may say of a task, in the order in which statements take it. */
export const GIVEN_FIELDS = Object.keys(createTaskInput.shape) as (keyof typeof createTaskInput.shape)[]; // its own keys
