import { z } from 'zod';

/**
 * One of some words. The messages start with `what`. Over GraphQL, whose enums have words of their own, nothing else than null gets
 * here, so that message has none.
 */
export function choice<const Values extends readonly [string, ...string[]]>(what: string, values: Values) {
  const form = `one of ${values.join(', ')}`;
  return z.enum(values, {
    error: ({ input }) => {
      if (input === null) return `${what} must not be null.`;
      return input === undefined ? `${what} is required: ${form}.` : `${what} must be ${form}.`;
    },
  });
}
