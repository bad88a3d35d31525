import { badUserInput, type Issue } from '@taskmesh/errors';
import type { z } from 'zod';

/** @throws AppError BAD_USER_INPUT with an issue for each problem */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw badUserInput(issuesOf(result.error));
}

function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
}
