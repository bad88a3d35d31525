/** More than the clocks of different hosts usually differ. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * Whether a past event has a future date, because a clock was ahead. Its real time is unknown, so callers treat it as if
 * it had not happened until that date has passed.
 */
export const isInFuture = (moment: Date, now: Date): boolean => moment.getTime() > now.getTime() + CLOCKS_DIFFER_MS;
