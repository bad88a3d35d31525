import { z } from 'zod';

/** One of some words. The messages start with `what`. */
export function choice<const Values extends readonly [string, ...string[]]>(what: string, values: Values) {
  const form = `one of ${values.join(', ')}`;
  return z.enum(values, {
    error: ({ input }) => (input === undefined ? `${what} is required: ${form}.` : `${what} must be ${form}.`),
  });
}
