/** The last one of the year 9999: the contract's times go no further. */
export const LAST_MOMENT = '9999-12-31T23:59:59.999Z';

const DASH = '-'.charCodeAt(0);

/**
 * A time as PostgreSQL writes it in a session in UTC (`YYYY-MM-DD hh:mm:ss[.fff]+00`, in JSON with `T` and `+00:00`), as
 * RFC 3339 with milliseconds and `Z`. Cut and put together, because a list has many and Date is slow; besides, Date
 * reads the years before 100 as others.
 */
export function toRfc3339(stored: string): string {
  const end = stored.indexOf('+', 19);
  const zone = stored.slice(end);
  // A longer year moves the dash; years before 1 end in BC; finer fractions than ours move the zone.
  const isOurs = end >= 19 && end <= 23 && (zone === '+00' || zone === '+00:00') && stored.charCodeAt(4) === DASH;
  if (!isOurs) throw new Error(`not a time of the years 0001 to 9999 in UTC: ${stored}`);
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}.${stored.slice(20, end).padEnd(3, '0')}Z`;
}
