/** More than the clocks of several hosts differ. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * Whether a past event is dated in the future because a clock was ahead. Its real time is unknown; until the date has
 * passed, the event counts as not having happened.
 */
export const isInFuture = (moment: Date, now: Date): boolean => moment > latestPossible(now);

export const latestPossible = (now: Date): Date => new Date(now.getTime() + CLOCKS_DIFFER_MS);
