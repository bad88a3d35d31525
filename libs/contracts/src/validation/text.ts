import { z } from 'zod';

/** PostgreSQL cannot store NUL; a lone surrogate cannot be encoded as UTF-8. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

/** Invisible text: Unicode white space (which is more than `\s`) and zero-width characters. */
const BLANK = /^[\p{White_Space}\u00ad\u180e\u200b-\u200f\u2060\ufeff]*$/u;

export const isBlank = (text: string) => BLANK.test(text);

/** Counts code points, which is closer to what people call characters than UTF-16 units. */
export function codePoints(text: string): number {
  // Counting surrogate pairs is enough, and most text is short ASCII.
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}

/**
 * Reports a missing value differently from one that is not a string; `form` describes the expected value. The path names the field
 * if there is one, because fields may share a schema.
 */
export const stringField = (what: string, form = '') =>
  z.string({
    error: ({ input, path = [] }) => {
      const name = path.join('.') || what;
      return input === undefined ? `${name} is required${form && `: ${form}`}.` : `${name} must be a string.`;
    },
  });

/** Text with a limited number of code points, stored as received. The messages start with `what`. */
export function text(what: string, limits: { min?: number; max: number }) {
  const { min = 0, max } = limits;
  return stringField(what)
    .refine(isStorable, `${what} must not contain NUL characters or lone surrogates.`)
    .refine(
      (value) => {
        const length = codePoints(value);
        return length >= min && length <= max;
      },
      min > 0 ? `${what} must have ${min} to ${max} characters.` : `${what} must have at most ${max} characters.`,
    )
    .meta({ minLength: min, maxLength: max });
}

/**
 * One of a fixed set of words. The messages start with `what`. The message for null lists no words: GraphQL clients can get only
 * that one (GraphQL checks everything else), and its enum values are spelt differently.
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
