import { z } from 'zod';
import { stringField } from './text.ts';

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses RFC 3339 with an offset: a date that exists, in the years 0001 to 9999 in UTC.
 * @returns UTC with milliseconds and `Z`; undefined for anything else
 */
export function parseTimestamp(value: string): string | undefined {
  const match = RFC_3339.exec(value);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]; // six groups of digits
  const [fraction = '', sign = '+', offsetHours = '0', offsetMinutes = '0'] = match.slice(7);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Date.UTC would read the years 0 to 99 as 1900 to 1999
  date.setUTCHours(hour, minute, second, Number(fraction.padEnd(3, '0').slice(0, 3)));
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  const utc = new Date(sign === '-' ? date.getTime() + offsetMs : date.getTime() - offsetMs);
  return utc.getUTCFullYear() >= 1 && utc.getUTCFullYear() <= 9999 ? utc.toISOString() : undefined;
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
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
