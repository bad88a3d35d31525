import { z } from 'zod';
import { stringField } from './text.ts';

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Parses RFC 3339 with an offset: a date that exists, in the years 0001 to 9999 in UTC.
 * @returns UTC with milliseconds and `Z`; undefined for anything else
 */
export function parseTimestamp(value: string): string | undefined {
  const day = new Date(RFC_3339.exec(value)?.[1] ?? NaN);
  // JavaScript reads 30 February as a day in March.
  if (Number.isNaN(day.getTime()) || !value.startsWith(day.toISOString().slice(0, 10))) return undefined;
  // V8 misreads longer fractions.
  const utc = new Date(value.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
  return utc.getUTCFullYear() >= 1 && utc.getUTCFullYear() <= 9999 ? utc.toISOString() : undefined;
}

export function timestamp(what: string) {
  const form = 'an RFC 3339 time with an offset, such as 2026-11-20T10:00:00Z';
  return stringField(what, form)
    .transform((value, context) => {
      const utc = parseTimestamp(value);
      if (utc === undefined) context.addIssue(`${what} must be ${form}.`);
      return utc ?? z.NEVER;
    })
    .meta({ format: 'date-time' });
}
