/** The contract's times end with the year 9999. */
export const LAST_MOMENT = '9999-12-31T23:59:59.999Z';

const DASH = '-'.charCodeAt(0);

/**
 * Converts a time as PostgreSQL writes it in UTC (`YYYY-MM-DD hh:mm:ss[.fff]+00`, in JSON with `T` and `+00:00`) to RFC
 * 3339 with milliseconds and `Z`. Plain text operations, because lists have many times and Date is slow; Date also
 * misreads years before 100.
 */
export function toRfc3339(stored: string): string {
  const end = stored.indexOf('+', 19);
  const zone = stored.slice(end);
  // Years above 9999 move the dash; years before 1 end in BC; finer fractions than ours move the zone.
  const isOurs = end >= 19 && end <= 23 && (zone === '+00' || zone === '+00:00') && stored.charCodeAt(4) === DASH;
  if (!isOurs) throw new Error(`not a time of the years 0001 to 9999 in UTC: ${stored}`);
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}.${stored.slice(20, end).padEnd(3, '0')}Z`;
}
