import { z } from 'zod';

/** PostgreSQL cannot store NUL; a lone surrogate cannot be encoded as UTF-8. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

/** Invisible text: white space as Unicode has it (which is more than `\s`), and characters without width. */
const BLANK = /^[\p{White_Space}\u00ad\u180e\u200b-\u200f\u2060\ufeff]*$/u;

export const isBlank = (text: string) => BLANK.test(text);

/** The number of code points, as people count characters; not UTF-16 units. */
export function codePoints(text: string): number {
  // Most text is short ASCII; only surrogate pairs make a difference.
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}

/** Tells what is absent from what is no string; `form` says what belongs there. One schema may have several names. */
export const stringField = (what: string, form = '') =>
  z.string({
    error: ({ input, path = [] }) => {
      const name = path.join('.') || what;
      return input === undefined ? `${name} is required${form && `: ${form}`}.` : `${name} must be a string.`;
    },
  });

/** Text with a limited number of code points, stored as sent. The messages start with `what`. */
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
