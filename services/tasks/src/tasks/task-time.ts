/** `YYYY-MM-DD hh:mm:ss[.fff]+00`, as PostgreSQL writes times in UTC; JSON from PostgreSQL has `T` and `+00:00`. */
const STORED = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00(?::00)?$/;

/**
 * A time as PostgreSQL wrote it in a session in UTC, as RFC 3339 with milliseconds and `Z`.
 * Not by way of Date, which is slower and reads the years before 100 as others.
 */
export function toRfc3339(stored: string): string {
  const [, date, time, fraction = ''] = STORED.exec(stored) ?? [];
  if (date === undefined) throw new Error(`not a time of the years 0001 to 9999 in UTC: ${stored}`);
  return `${date}T${time}.${fraction.padEnd(3, '0')}Z`;
}
