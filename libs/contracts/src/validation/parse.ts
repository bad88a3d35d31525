import { badUserInput, type Issue } from '../errors.ts';
import type { z } from 'zod';

/** @throws AppError BAD_USER_INPUT with an issue for each problem */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input, { error: describeIssue });
  if (result.success) return result.data;
  throw badUserInput(issuesOf(result.error));
}

/** Used by schemas without a message of their own, because the validator's messages describe its internal types. */
function describeIssue({ code, input, path = [] }: z.core.$ZodRawIssue) {
  const name = path.join('.');
  if (code === 'unrecognized_keys' || name === '') return undefined;
  return input === undefined ? `${name} is required.` : `${name} is not valid.`;
}

function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the id as stored (lower case), or undefined for a value that cannot be an id, so that nothing is found. */
export function parseUuid(value: string): string | undefined {
  return UUID.test(value) ? value.toLowerCase() : undefined;
}
