/** The clocks of several machines differ by less. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * Whether something that has been cannot have been then: a clock was ahead. When it really was nobody knows, and until that
 * time comes it counts as not done.
 */
export const isInFuture = (moment: Date, now: Date): boolean => moment > latestPossible(now);

/** What is later is in the future. */
export const latestPossible = (now: Date): Date => new Date(now.getTime() + CLOCKS_DIFFER_MS);
